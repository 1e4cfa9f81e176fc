import { MerchantStatusChanged } from '@quittance/contracts/messages.ts';
import { on, type Handler } from '@quittance/messaging/consumer/handler.ts';
import type { Outbox } from '@quittance/messaging/outbox/outbox.ts';
import { changePolicy, gatewayAuthor } from '../changes.ts';
import { setAccountActive } from '../policy.ts';
import { saveMerchantStatus } from '../store.ts';

/**
 * Applies a blocked or unblocked account. Messages may arrive out of order, so only a higher status_version counts.
 * The status of a merchant that is not registered yet is stored until the registration reads it.
 */
export const merchantStatusChanged = (outbox: Outbox): Handler =>
  on(MerchantStatusChanged, 'merchant-status-changed', async (change, { tx }) => {
    if (!(await saveMerchantStatus(tx, change))) return;
    const active = change.status === 'active';
    await changePolicy(tx, outbox, {
      merchantId: change.merchant_id,
      action: active ? 'unblock' : 'block',
      rule: setAccountActive(active),
      author: gatewayAuthor(active ? 'account unblocked' : 'account blocked'),
    });
  });
