import { MerchantStatusChanged } from '@quittance/contracts/messages.ts';
import { on, type Handler } from '@quittance/messaging/consumer/handler.ts';
import { holdLane } from './lane.sql.ts';

/**
 * Holds the deliveries of a blocked account: they stay pending and use no attempts. Unblocking releases them immediately.
 * Messages may arrive out of order, so only a higher status_version counts.
 */
export const merchantStatusChanged = (wake: () => void): Handler =>
  on(MerchantStatusChanged, 'merchant-status-changed', async (change, { tx }) => {
    const held = change.status === 'blocked';
    const changed = await holdLane(tx, { merchantId: change.merchant_id, held, statusVersion: change.status_version });
    if (changed && !held) tx.afterCommit(wake);
  });
