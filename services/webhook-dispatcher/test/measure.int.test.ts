import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { samplesOf } from '@quittance/testkit/alert-rules.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { attemptErrors } from '../src/lanes/attempt-report.ts';
import { startMeasureLoop } from '../src/lanes/housekeeping.ts';
import { startStoreWorld, type StoreWorld } from './store-world.ts';

let world: StoreWorld;
beforeAll(async () => {
  world = await startStoreWorld();
});
beforeEach(() => world.empty());
afterAll(() => world.stop());

test('the metrics name the twenty merchants whose events wait longest, and drop them when nothing waits', async () => {
  const metrics = createMetrics({ service: 'test', processMetrics: false });
  const merchants: string[] = [];
  for (let n = 0; n < 22; n += 1) {
    const merchantId = await world.addMerchant();
    await world.addEvent(merchantId);
    merchants.push(merchantId);
    await world.pool.query(
      `update delivery set next_attempt_at = now() - make_interval(secs => $2) where merchant_id = $1`,
      [merchantId, 100 * (22 - n)],
    );
  }
  const loop = startMeasureLoop({ pool: world.pool, logger: testLogger, metrics });
  const shown = async () => {
    const samples = await samplesOf(metrics);
    const of = (name: string) => samples.filter((sample) => sample.name === name);
    const value = (name: string) => of(name)[0]?.value;
    const failing = Object.fromEntries(
      of('webhook_failing_lanes').map((sample) => [sample.labels['error_category'], sample.value]),
    );
    return {
      named: of('webhook_lane_backlog_deliveries'),
      oldest: of('webhook_lane_oldest_due_seconds'),
      failing,
      value,
    };
  };
  /** Measures again, so that no test waits for the interval. */
  const becomes = (check: (now: Awaited<ReturnType<typeof shown>>) => void) =>
    eventually(async () => {
      loop.wake();
      check(await shown());
    });

  await becomes(({ named, oldest, value }) => {
    expect(named.map(({ labels }) => labels['merchant_id'])).toEqual(merchants.slice(0, 20));
    expect(named.every((sample) => sample.value === 1)).toBe(true);
    expect(oldest.map(({ labels }) => labels['merchant_id'])).toEqual(merchants.slice(0, 20));
    expect(oldest.every(({ value: seconds }, n) => seconds >= 100 * (22 - n))).toBe(true);
    expect(value('webhook_backlog_deliveries')).toBe(22);
    expect(value('webhook_oldest_due_seconds')).toBeGreaterThanOrEqual(2_200);
    expect(value('webhook_overdue_lanes')).toBe(22);
  });
  await world.pool.query(`update lane set held = true where merchant_id = $1`, [merchants[20]]);
  await world.pool.query(
    `update lane set circuit_state = 'open', open_until = now() + interval '1 minute', next_due_at = now() + interval '1 minute',
            failures = 50, failing_since = now(), error_category = 'http_5xx'
      where merchant_id = $1`,
    [merchants[21]],
  );
  await world.pool.query(
    `update delivery set status = 'delivered', delivered_at = now(), next_attempt_at = null where merchant_id = any($1)`,
    [merchants.slice(0, 20)],
  );
  const noneFailing = Object.fromEntries(attemptErrors.map((category) => [category, 0]));
  await becomes(({ named, oldest, failing, value }) => {
    expect(failing).toEqual({ ...noneFailing, http_5xx: 1 });
    expect(named.map(({ labels }) => labels['merchant_id'])).toEqual([merchants[21]]);
    expect(oldest.map(({ labels }) => labels['merchant_id'])).toEqual([merchants[21]]);
    const gauges = ['backlog_deliveries', 'oldest_due_seconds', 'overdue_lanes', 'held_lanes', 'open_lane_circuits'];
    expect(gauges.map((name) => value(`webhook_${name}`))).toEqual([0, 0, 0, 1, 1]);
    expect(value('webhook_misplaced_attempts')).toBe(0);
  });
  await world.pool.query('update lane set failures = 0, failing_since = null');
  await becomes(({ failing }) => expect(failing).toEqual(noneFailing));
  await loop.close();
});
