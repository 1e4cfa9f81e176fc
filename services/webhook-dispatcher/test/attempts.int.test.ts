import { setTimeout as delay } from 'node:timers/promises';
import tls from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { samplesOf } from '@quittance/testkit/alert-rules.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger, testMetrics } from '@quittance/testkit/logger.ts';
import { createAttemptReport } from '../src/delivery/attempt-report.ts';
import { createAttempts } from '../src/delivery/attempts.ts';
import { createDatabaseClock } from '../src/delivery/database-clock.ts';
import { DialError } from '../src/sending/errors.ts';
import { createConnector } from '../src/sending/dial.ts';
import { createHostBreakers } from '../src/delivery/host-breakers.ts';
import { createInFlightLimits } from '../src/delivery/in-flight-limits.ts';
import { localReceiver } from '../src/sending/local-receiver.ts';
import { startDeliverLoop } from '../src/loops/deliver.ts';
import type { DeliverLoop } from '../src/loops/deliver.ts';
import { createBackPressure } from '../src/delivery/back-pressure.ts';
import type { BackPressure } from '../src/delivery/back-pressure.ts';
import { createSender } from '../src/sending/sender.ts';
import type { Sender } from '../src/sending/sender.ts';
import { createAuthority } from './certificates.ts';
import { startReceiver, status } from './receiver.ts';
import type { Receiver } from './receiver.ts';
import { startStoreWorld } from './store-world.ts';
import type { StoreWorld } from './store-world.ts';

const bounds = { lane: 8, host: 64, process: 1_024 };
/** Slow enough that a host closes long before a lane has failures enough to be closed itself. */
const REFUSAL_MS = 150;

/** Hosts whose connections are refused. */
const refusing = new Set<string>();
/** The refused connections, by a clock that never steps. */
let refused: { host: string; askedMs: number; refusedMs: number }[] = [];
let store: StoreWorld;
let receiver: Receiver;
let sender: Sender;
let pressure: BackPressure;
let loop: DeliverLoop | null = null;
beforeAll(async () => {
  const authority = await createAuthority();
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), authority.certificate]);
  [store, receiver] = await Promise.all([startStoreWorld(), startReceiver(authority)]);
  const { resolve, dial } = localReceiver({ address: '127.0.0.1', port: receiver.port });
  const connector = createConnector({
    resolve,
    dial: async (target) => {
      const { host } = target;
      if (!refusing.has(host)) return dial(target);
      const askedMs = performance.now();
      await delay(REFUSAL_MS);
      refused.push({ host, askedMs, refusedMs: performance.now() });
      throw new DialError('connect_refused', `${host} refused`);
    },
  });
  const clock = () => new Date();
  sender = createSender({ connector, clock, connectionsPerHost: bounds.host });
  pressure = createBackPressure({ clock, logger: testLogger, metrics: testMetrics });
}, 60_000);
beforeEach(async () => {
  refusing.clear();
  refused = [];
  await store.empty();
});
afterEach(async () => {
  await loop?.close();
  loop = null;
});
afterAll(async () => {
  pressure.close();
  await sender.close();
  await receiver.close();
  await store.stop();
}, 60_000);

/** Starts to deliver. @returns how to read a metric of this loop's. */
function startDelivering(retryDelaysSeconds: readonly number[]): (metric: string) => Promise<number | undefined> {
  const metrics = createMetrics({ service: 'test', processMetrics: false });
  loop = startDeliverLoop({
    ...{ pool: store.pool, vault: store.vault, sender, pressure, bounds, retryDelaysSeconds },
    ...{ logger: testLogger, metrics, stopping: new AbortController().signal },
  });
  return async (metric) => (await samplesOf(metrics)).find(({ name }) => name === metric)?.value;
}

const isDelivered = (eventId: string) =>
  eventually(async () => expect(await store.stateOf(eventId)).toMatchObject({ status: 'delivered' }), {
    timeoutMs: 30_000,
  });

describe('a host that refuses connections', () => {
  test('rests for all merchants who share it, and for no other host, and gets all their events afterwards', async () => {
    const host = 'shared.io';
    refusing.add(host);
    const valueOf = startDelivering(Array<number>(1_000).fill(0));
    const first = await store.addEvent(await store.addMerchant(host));
    const closes = async () => {
      // The event is due again at once, and need not wait until the loop looks by itself.
      loop!.wake();
      expect(await valueOf('webhook_closed_hosts')).toBe(1);
    };
    await eventually(closes, { timeoutMs: 30_000 });
    const atClosing = refused.length;
    expect(atClosing).toBeGreaterThanOrEqual(20);

    const second = await store.addEvent(await store.addMerchant(host));
    const elsewhere = await store.addEvent(await store.addMerchant('elsewhere.io'));
    loop!.wake();
    await isDelivered(elsewhere);
    // The next connection is the one with which the host is tried again, whichever merchant's event it is for.
    await eventually(() => expect(refused.length).toBeGreaterThan(atClosing), { timeoutMs: 30_000 });
    const [before, tried] = refused.slice(atClosing - 1);
    expect(tried!.askedMs - before!.refusedMs).toBeGreaterThanOrEqual(1_000);

    refusing.clear();
    await Promise.all([first, second].map(isDelivered));
    expect(await valueOf('webhook_closed_hosts')).toBe(0);
    expect(receiver.received(host)).toHaveLength(2);
  }, 120_000);

  test('closed after its deliveries were claimed gets one of them, and the others are given back', async () => {
    const host = 'closing.io';
    for (let n = 0; n < 3; n += 1) await store.addEvent(await store.addMerchant(host));
    const claimed = await store.claim();
    expect(claimed).toHaveLength(3);

    let nowMs = 0;
    const breakers = createHostBreakers({ recoveredAt: bounds.host, nowMs: () => nowMs });
    for (let n = 0; n < 20; n += 1, nowMs += 1_000) breakers.ended(host, 'connect_refused');
    const attempts = createAttempts({
      ...{ pool: store.pool, vault: store.vault, sender, breakers, lanes: createInFlightLimits(bounds, breakers) },
      ...{ report: createAttemptReport({ logger: testLogger, metrics: testMetrics }), logger: testLogger },
      ...{ databaseClock: createDatabaseClock(), retryDelaysSeconds: [], onFree: () => undefined },
    });
    await attempts.start(claimed);
    await attempts.idle();

    const [tried, ...others] = claimed.map((delivery) => delivery.event_id);
    expect(await store.stateOf(tried!)).toMatchObject({ status: 'delivered' });
    for (const eventId of others) {
      const untouched = { status: 'pending', leased: false, attempts: 0, interruptions: 0, error_category: null };
      expect(await store.stateOf(eventId)).toMatchObject(untouched);
    }
    expect(receiver.received(host)).toHaveLength(1);
  });
});

test('an event counts as failed with its last attempt, not with one before, nor when its last attempt succeeds', async () => {
  const answers = {
    'failing.io': [status(500)],
    'late.io': [status(500), status(200)],
  };
  for (const [host, list] of Object.entries(answers)) receiver.answer(host, ...list);
  const failing = await store.addEvent(await store.addMerchant('failing.io'));
  const late = await store.addEvent(await store.addMerchant('late.io'));
  const valueOf = startDelivering([0]);
  await isDelivered(late);
  await eventually(async () => expect(await store.stateOf(failing)).toMatchObject({ status: 'failed', attempts: 2 }));
  // What is counted is counted once the attempt is written down, and a loop that is closed has counted everything.
  await loop!.close();
  expect(await valueOf('webhook_failed_events_total')).toBe(1);
  expect(receiver.received('failing.io')).toHaveLength(2);
  expect(receiver.received('late.io')).toHaveLength(2);
}, 60_000);
