import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { testDatabase, type TestDatabase } from '@quittance/testkit/database.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { faultProxy } from '@quittance/testkit/fault-proxy.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { compareClocks, startClockComparison } from '../src/clock-difference.ts';
import { createPool, type Pool } from '../src/pool.ts';

const common = { schema: 'shop', max: 1, logger: testLogger, applicationName: 'test' };
let database: TestDatabase;
let pool: Pool;
beforeAll(async () => {
  database = await testDatabase({ schema: 'shop', migrations: [] });
  pool = createPool({ ...common, url: database.url });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const off = (seconds: number) => () => new Date(Date.now() + seconds * 1000);

test.each([0, 7, -7])('a clock that is %d s off is measured to within half the round trip', async (seconds) => {
  const { differenceMs, roundTripMs } = await compareClocks(pool, off(seconds));
  // Both clocks are this machine's, with millisecond precision.
  expect(Math.abs(differenceMs - seconds * 1000)).toBeLessThanOrEqual(roundTripMs / 2 + 2);
});

test('the round trip does not include waiting for a connection', async () => {
  const taken = await pool.connect();
  const comparing = compareClocks(pool, off(0));
  await eventually(() => expect(pool.waitingCount).toBe(1));
  taken.release();
  const releasedAt = performance.now();
  const { differenceMs, roundTripMs } = await comparing;
  expect(roundTripMs).toBeLessThanOrEqual(performance.now() - releasedAt);
  expect(Math.abs(differenceMs)).toBeLessThanOrEqual(roundTripMs / 2 + 2);
});

test('the metric follows the clock, keeps its value while the database is unavailable, and continues afterwards', async () => {
  const proxy = await faultProxy({ target: database.url });
  const metrics = createMetrics({ service: 'test', processMetrics: false });
  const proxied = createPool({ ...common, url: proxy.url });
  let seconds = -40;
  const comparison = startClockComparison({
    ...{ pool: proxied, logger: testLogger, metrics, intervalMs: 20 },
    clock: () => off(seconds)(),
  });
  const shows = (from: number, to: number) =>
    eventually(async () => {
      const values = (await metrics.registry.getSingleMetric('clock_difference_seconds')?.get())?.values ?? [];
      expect(values).toHaveLength(1);
      expect(values[0]!.value).toBeGreaterThan(from);
      expect(values[0]!.value).toBeLessThan(to);
    });
  try {
    await shows(-41, -39);
    expect(comparison.differenceMs()).toBeLessThan(-39_000);
    proxy.cut();
    await eventually(async () =>
      expect((await metrics.render()).text).toMatch(/loop_run_duration_seconds_count\{.*outcome="error"\} [1-9]/),
    );
    await shows(-41, -39);
    expect((await metrics.render()).text).toMatch(/^database_reachable\{.*\} 0$/m);
    seconds = 20;
    proxy.restore();
    await shows(19, 21);
    expect((await metrics.render()).text).toMatch(/^database_reachable\{.*\} 1$/m);
  } finally {
    await comparison.close();
    await proxied.end();
    await proxy.close();
  }
});
