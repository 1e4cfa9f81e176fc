import { scryptSync } from 'node:crypto';
import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import type { DailyBudget, Usage } from '@quittance/chain-reader/rpc/daily-budget.ts';
import type { Endpoints } from '@quittance/chain-reader/rpc/endpoints.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { firstRow } from '@quittance/postgres/rows.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { startLoop, type Loop } from '@quittance/runtime/loop.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';

/** A killed process loses at most the usage of this long. */
const INTERVAL_MS = 10_000;
const KEY_BYTES = 8;

type Limited = { network: string; endpoint: Buffer; dailyBudget: DailyBudget; lastDay: string };

/**
 * Stores how much endpoints with a daily limit were used, and learns how much other replicas and earlier processes have used them.
 * Without such a limit, it does nothing.
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
      await storeAll().catch((error: unknown) => logger.warn({ error }, 'the usage of endpoints could not be stored'));
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
    // It may have been stored after all. Counting it twice is the safer mistake.
    dailyBudget.bringBack(taken);
    throw error;
  }
  if (one.lastDay === taken.day) return;
  await forgetOldUsage(db, key);
  one.lastDay = taken.day;
}

/** Identifies an endpoint at any position in the networks file. Slow to compute, so that a password in the URL cannot be guessed. */
function usageKey(network: string, url: string): Buffer {
  return scryptSync(url, network, KEY_BYTES);
}

/** `endpoint`: see usageKey(). `day`: YYYY-MM-DD. */
type UsageKey = { network: string; endpoint: Buffer; day: string };

/** Adds the usage of this replica. @returns the usage of all replicas on that day. */
async function addUsage(
  db: Queryable,
  { network, endpoint, day }: UsageKey,
  { requests, units }: Usage,
): Promise<Usage> {
  const { rows } = await db.query<Usage>(
    `insert into endpoint_usage as usage (network, endpoint, day, requests, units) values ($1, $2, $3, $4, $5)
     on conflict (network, endpoint, day)
     do update set requests = usage.requests + excluded.requests, units = usage.units + excluded.units
     returning requests::float8, units::float8`,
    [network, endpoint, day, requests, units],
  );
  return firstRow(rows);
}

const KEPT_DAYS = 40;

/** Deletes days that are no longer needed. */
async function forgetOldUsage(db: Queryable, { network, endpoint, day }: UsageKey): Promise<void> {
  await db.query('delete from endpoint_usage where network = $1 and endpoint = $2 and day < $3::date - $4::integer', [
    network,
    endpoint,
    day,
    KEPT_DAYS,
  ]);
}
