import type { Network } from '@quittance/contracts/networks.ts';
import { type Loop, startLoop } from '@quittance/runtime/loop.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { expireOverdue, type ExpiryContext } from '../expiry/expire-overdue.ts';
import { measureExpiryLag, type UnfinishedBound } from '../store/expiry.ts';

const INTERVAL_MS = 1000;

/** The whole index is read for a fiftieth of the time at most; in between, from where unfinished payments were. */
const WHOLE_SHARE = 50;

type Context = ExpiryContext & { networks: readonly Network[]; metrics: Metrics };

/** Expires overdue payments, each network in a loop of its own, so that none waits for another. */
export function startExpireLoop({ networks, ...context }: Context): Loop {
  const loops = networks.map(({ id }) => startNetworkLoop(id, context));
  return {
    wake: () => loops.forEach((loop) => loop.wake()),
    async close() {
      await Promise.all(loops.map((loop) => loop.close()));
    },
  };
}

function startNetworkLoop(network: string, context: Omit<Context, 'networks'>): Loop {
  const { transact, logger, metrics } = context;
  const lagSeconds = metrics.gauge(
    'payment_expiry_lag_seconds',
    'How long the longest overdue payment waits past its expiry',
    ['network'],
  );
  let known: UnfinishedBound | null = null;
  let readWholeAt = 0;
  return startLoop({
    name: `expire ${network}`,
    intervalMs: INTERVAL_MS,
    logger,
    metrics,
    run: async (signal) => {
      const isWhole = performance.now() >= readWholeAt;
      const {
        lag,
        bound,
        took_ms: tookMs,
      } = await transact((tx) => measureExpiryLag(tx, network, isWhole ? null : known));
      if (isWhole) readWholeAt = performance.now() + tookMs * WHOLE_SHARE;
      known = bound;
      lagSeconds.set({ network }, lag);
      return { more: lag > 0 && (await expireOverdue({ ...context, network, bound, signal })) };
    },
  });
}
