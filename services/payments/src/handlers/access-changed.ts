import { AccessChanged } from '@quittance/contracts/messages/access-changed.ts';
import { type Handler, on } from '@quittance/messaging/consumer/handler.ts';
import { applyPolicy } from '../store/gate.ts';

/** Keeps the newest policy in the gate. It waits for a running creation and is in force for every later one. */
export const accessChanged = (): Handler =>
  on(AccessChanged, 'access-changed', (policy, { tx }) => applyPolicy(tx, policy));
