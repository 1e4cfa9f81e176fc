import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createDailyBudget } from '@quittance/chain-reader/rpc/daily-budget.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { testDatabase, type TestDatabase, testPool } from '@quittance/testkit/database.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { startStoreUsageLoop } from '../src/endpoints/usage.ts';
import { migrations, schema } from '../src/migrations.ts';

const URL_WITH_KEY = 'https://user:pass@node.example/v2/a-secret-key';
const plan = { requestsPerDay: 1_000, unitsPerDay: 10_000, unitPrices: { default: 20 }, beginsAtMinute: 0 };

let database: TestDatabase;
let pool: Pool;
beforeAll(async () => {
  database = await testDatabase({ schema, migrations });
  pool = testPool({ url: database.url, schema, max: 3 });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

/** A process whose second endpoint, or the one with this URL, has a plan. */
function replica(urls = ['https://other.example', URL_WITH_KEY], db: Pick<Pool, 'query'> = pool) {
  const dailyBudget = createDailyBudget(plan);
  const node = { headers: {}, wsUrl: null, requestsPerSecond: null, dailyPlan: null };
  const network = { id: 'local', endpoints: urls.map((url) => ({ ...node, url })) };
  const endpoints = {
    dailyBudgets: () => [{ position: urls.indexOf(URL_WITH_KEY), dailyBudget, purpose: 'all' as const }],
  };
  const metrics = createMetrics({ service: 'test', processMetrics: false });
  const networks = [{ network, endpoints }];
  const loop = startStoreUsageLoop({ db, networks, logger: testLogger, metrics, intervalMs: 20 });
  return { ...loop, dailyBudget };
}
const usedBy = ({ dailyBudget }: ReturnType<typeof replica>) => dailyBudget.used().requests;

test('replicas and later processes know the usage, at any position of the endpoint, and no row shows its URL', async () => {
  const [one, other] = [replica(), replica()];
  one.dailyBudget.count(['eth_getLogs', 'eth_chainId']);
  other.dailyBudget.count(['eth_getLogs']);
  await eventually(() => expect([usedBy(one), usedBy(other)]).toEqual([3, 3]));
  // The last usage is stored at the end.
  one.dailyBudget.count(['eth_getLogs']);
  await Promise.all([one.close(), other.close()]);
  const later = replica([URL_WITH_KEY, 'https://other.example']);
  await eventually(() => expect(later.dailyBudget.used()).toEqual({ requests: 4, units: 80 }));
  await later.close();
  const { rows } = await pool.query<{ network: string; endpoint: Buffer }>('select * from endpoint_usage');
  expect(rows).toMatchObject([{ network: 'local', requests: 4n, units: 80n }]);
  expect(rows[0]!.endpoint.toString('latin1')).not.toContain('secret');
});

test('usage that could not be stored while the database was down is stored later, and old days are deleted', async () => {
  await pool.query(`update endpoint_usage set day = day - 60`);
  let isAway = true;
  const db = {
    query: ((...args: [string]) =>
      isAway ? Promise.reject(new Error('away')) : pool.query(...args)) as unknown as Pool['query'],
  };
  const process = replica(undefined, db);
  process.dailyBudget.count(['eth_getLogs']);
  expect(usedBy(process)).toBe(1);
  isAway = false;
  await eventually(async () => {
    const { rows } = await pool.query('select requests from endpoint_usage');
    expect(rows).toEqual([{ requests: 1n }]);
  });
  await process.close();
});
