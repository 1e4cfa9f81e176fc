import type { Network } from '@quittance/contracts/networks.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transact } from '@quittance/postgres/transaction.ts';
import { type Loop, type LoopContext, startLoop } from '@quittance/runtime/loop.ts';
import type { PaymentMessages } from '../payment/outgoing-messages.ts';
import { expireUnread, findUnreadNetworks } from './expiry.sql.ts';

const INTERVAL_MS = 10 * 60 * 1000;

type Context = LoopContext & {
  db: Queryable;
  transact: Transact;
  messages: PaymentMessages;
  networks: readonly Network[];
};

/**
 * Expires payments on networks that were removed from the networks file or switched off, one day after their expiry. No service reads those
 * chains, so these payments would never end and their amounts would stay taken. No money is lost: when the network is enabled again, money
 * that came in time still pays them.
 */
export function startExpireUnreadLoop({ db, transact, messages, networks, logger, metrics }: Context): Loop {
  const unread = metrics.gauge(
    'payment_networks_unread',
    'Networks with unfinished payments that are not enabled in the networks file',
  );
  return startLoop({
    name: 'expire-unread',
    intervalMs: INTERVAL_MS,
    logger,
    metrics,
    run: async () => {
      const found = await findUnreadNetworks(
        db,
        networks.map(({ id }) => id),
      );
      unread.set(found.length);
      if (found.length === 0) return { more: false };
      const expired = await transact(async (tx) => {
        const payments = await expireUnread(tx, found);
        for (const payment of payments) await messages.sendClosed(tx, payment, 'EXPIRED', payment.closed_at);
        return payments.length;
      });
      logger.warn({ networks: found, expired }, 'unfinished payments are on networks that are not enabled');
      return { more: expired > 0 };
    },
  });
}
