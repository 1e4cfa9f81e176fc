import { scryptSync } from 'node:crypto';
import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import type { DailyBudget } from '@quittance/chain-reader/rpc/daily-budget.ts';
import type { Endpoints } from '@quittance/chain-reader/rpc/endpoints.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { startLoop, type Loop } from '@quittance/runtime/loop.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { addUsage, forgetOldUsage } from './usage.sql.ts';

/** What a killed process has not stored is forgotten: this much of a day. */
const INTERVAL_MS = 10_000;
const KEY_BYTES = 8;

type Limited = { network: string; endpoint: Buffer; dailyBudget: DailyBudget; lastDay: string };

/**
 * Stores what was asked of the endpoints whose plans have a daily limit, and learns what other replicas and earlier processes have asked.
 * Where no plan has a limit, it does nothing.
 */
export function startStoreUsageLoop(context: {
  db: Queryable;
  networks: readonly { network: Pick<ChainNetwork, 'id' | 'endpoints'>; endpoints: Pick<Endpoints, 'dailyBudgets'> }[];
  logger: Logger;
  metrics: Metrics;
  intervalMs?: number;
}): Loop {
  const { db, networks, logger, metrics, intervalMs = INTERVAL_MS } = context;
  const limited = networks.flatMap(({ network, endpoints }) =>
    endpoints.dailyBudgets().map(({ position, dailyBudget, purpose }): Limited => {
      const url = network.endpoints[position]?.url ?? '';
      const endpoint = usageKey(network.id, purpose === 'all' ? url : `${purpose} ${url}`);
      return { network: network.id, endpoint, dailyBudget, lastDay: '' };
    }),
  );
  const storeAll = async () => {
    for (const one of limited) await store(db, one);
  };
  const loop = startLoop({
    name: 'store-usage',
    intervalMs,
    logger,
    metrics,
    run: async () => {
      await storeAll();
      return { more: false };
    },
  });
  return {
    wake: () => loop.wake(),
    async close() {
      await loop.close();
      await storeAll().catch((error: unknown) => logger.warn({ error }, 'what endpoints were asked is not stored'));
    },
  };
}

async function store(db: Queryable, one: Limited): Promise<void> {
  const { network, endpoint, dailyBudget } = one;
  const taken = dailyBudget.takeUnstored();
  const key = { network, endpoint, day: taken.day };
  try {
    dailyBudget.setStored(taken.day, await addUsage(db, key, taken.usage));
  } catch (error) {
    // It may have been stored after all. To count it twice is the safer mistake.
    dailyBudget.bringBack(taken);
    throw error;
  }
  if (one.lastDay === taken.day) return;
  await forgetOldUsage(db, key);
  one.lastDay = taken.day;
}

/** Names an endpoint wherever it stands in the networks file. Slow to compute, so that no password in the URL is found by guessing. */
function usageKey(network: string, url: string): Buffer {
  return scryptSync(url, network, KEY_BYTES);
}
