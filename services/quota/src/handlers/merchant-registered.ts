import { MerchantRegistered } from '@quittance/contracts/messages.ts';
import { on, type Handler } from '@quittance/messaging/consumer/handler.ts';
import type { Outbox } from '@quittance/messaging/outbox/outbox.ts';
import { openPolicy } from '../changes.ts';

/** Creates the policy of a registered merchant. */
export const merchantRegistered = (outbox: Outbox): Handler =>
  on(MerchantRegistered, 'merchant-registered', (merchant, { tx }) => openPolicy(tx, outbox, merchant));
