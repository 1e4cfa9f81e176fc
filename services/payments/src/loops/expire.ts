import type { Network } from '@quittance/contracts/networks.ts';
import { type Loop, startLoop } from '@quittance/runtime/loop.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { expireOverdue, type ExpiryContext } from '../expiry/expire-overdue.ts';
import { measureExpiryLag } from '../store/expiry.ts';

const INTERVAL_MS = 1000;

/** Expires overdue payments, network by network. */
export function startExpireLoop(context: ExpiryContext & { networks: readonly Network[]; metrics: Metrics }): Loop {
  const { db, networks, logger, metrics } = context;
  const lag = metrics.gauge(
    'payment_expiry_lag_seconds',
    'How long the longest overdue payment waits past its expiry',
    ['network'],
  );
  return startLoop({
    name: 'expire',
    intervalMs: INTERVAL_MS,
    logger,
    metrics,
    run: async (signal) => {
      const failures: unknown[] = [];
      let more = false;
      // One after the other, but a network that fails stops no other.
      for (const { id: network } of networks) {
        if (signal.aborted) break;
        try {
          const overdueSeconds = await measureExpiryLag(db, network);
          lag.set({ network }, overdueSeconds);
          if (overdueSeconds > 0) more = (await expireOverdue({ ...context, network, signal })) || more;
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0)
        throw new AggregateError(failures, `expiry failed on ${failures.length} of ${networks.length} networks`);
      return { more };
    },
  });
}
