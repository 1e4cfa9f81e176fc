import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { samplesOf } from '@quittance/testkit/alert-rules.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { laneCircuitPolicy } from '../src/lanes/in-flight-limits.ts';
import { startGiveUpLoop } from '../src/lanes/housekeeping.ts';
import { settleAttempts } from '../src/lanes/claim.sql.ts';
import { failure, outcome, startStoreWorld, type StoreWorld } from './store-world.ts';

let world: StoreWorld;
beforeAll(async () => {
  world = await startStoreWorld();
});
afterAll(() => world.stop());

/** An event of a merchant whose receiver has done nothing but fail since the event came, so many seconds ago. */
async function addFailing(seconds: number): Promise<string> {
  const merchantId = await world.addMerchant();
  const eventId = await world.addEvent(merchantId);
  const claimed = await world.claim();
  await settleAttempts(
    world.pool,
    claimed.map((c) => outcome(c, { ...failure, retry_delay_seconds: 3_600 })),
    laneCircuitPolicy,
  );
  await world.pool.query(
    `with aged as (update lane set failing_since = now() - make_interval(secs => $2) where merchant_id = $1)
     update delivery set cycle_started_at = now() - make_interval(secs => $2) where merchant_id = $1`,
    [merchantId, seconds],
  );
  return eventId;
}

test('an event is given up, and counted, three days after the time of its last retry, and not before', async () => {
  const metrics = createMetrics({ service: 'test', processMetrics: false });
  // At the latest, as a retry may come a fifth late.
  const lastRetrySeconds = 1.2 * (600 + 3_000);
  const days = 3 * 86_400;
  const old = await addFailing(lastRetrySeconds + days + 1);
  const young = await addFailing(lastRetrySeconds + days - 60);
  const loop = startGiveUpLoop({ pool: world.pool, retryDelaysSeconds: [600, 3_000], logger: testLogger, metrics });
  try {
    await eventually(async () => expect(await world.stateOf(old)).toMatchObject({ status: 'failed' }));
  } finally {
    await loop.close();
  }
  expect(await world.stateOf(old)).toMatchObject({ attempts: 1, error_category: 'http_5xx', due_in: null });
  expect(await world.stateOf(young)).toMatchObject({ status: 'pending', attempts: 1 });
  const samples = await samplesOf(metrics);
  expect(samples.find(({ name }) => name === 'webhook_given_up_events_total')?.value).toBe(1);
});
