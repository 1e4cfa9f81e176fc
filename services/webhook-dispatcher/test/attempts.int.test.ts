import { setTimeout as delay } from 'node:timers/promises';
import tls from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Loop } from '@quittance/runtime/loop.ts';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { samplesOf } from '@quittance/testkit/alert-rules.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger, testMetrics } from '@quittance/testkit/logger.ts';
import { createAttemptReport } from '../src/lanes/attempt-report.ts';
import { createAttempts } from '../src/lanes/attempts.ts';
import { SendError } from '../src/sending/errors.ts';
import { createConnector } from '../src/sending/dial.ts';
import { createHostCircuits } from '../src/lanes/host-circuits.ts';
import { createInFlightLimits, limits } from '../src/lanes/in-flight-limits.ts';
import { localReceiver } from '../src/sending/ways-out.ts';
import { startDeliverLoop } from '../src/lanes/deliver.ts';
import { createBackPressure, type BackPressure } from '../src/lanes/back-pressure.ts';
import { createSender, type Sender } from '../src/sending/sender.ts';
import { createAuthority } from './certificates.ts';
import { startReceiver, status, type Receiver } from './receiver.ts';
import { startStoreWorld, type StoreWorld } from './store-world.ts';

/** Slow enough that a host's circuit opens long before a lane's circuit. */
const REFUSAL_MS = 150;

/** Hosts that refuse connections. */
const refusing = new Set<string>();
/** The refused connections, with times of a monotonic clock. */
let refused: { host: string; askedMs: number; refusedMs: number }[] = [];
let store: StoreWorld;
let receiver: Receiver;
let sender: Sender;
let pressure: BackPressure;
let loop: Loop | null = null;
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
      throw new SendError('connect_refused', `${host} refused`);
    },
  });
  const clock = () => new Date();
  sender = createSender({ connector, clock });
  pressure = createBackPressure({ clock, logger: testLogger, metrics: testMetrics });
});
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
});

/** Starts the deliver loop. @returns a function that reads one of its metrics. */
function startDelivering(retryDelaysSeconds: readonly number[]): (metric: string) => Promise<number | undefined> {
  const metrics = createMetrics({ service: 'test', processMetrics: false });
  loop = startDeliverLoop({
    ...{ pool: store.pool, vault: store.vault, sender, pressure, limits, retryDelaysSeconds },
    ...{ logger: testLogger, metrics, stopping: new AbortController().signal },
  });
  return async (metric) => (await samplesOf(metrics)).find(({ name }) => name === metric)?.value;
}

const isDelivered = (eventId: string) =>
  eventually(async () => expect(await store.stateOf(eventId)).toMatchObject({ status: 'delivered' }));

test('the signing key of several deliveries in one claim is opened once, and all are sent', async () => {
  const host = 'several.io';
  const merchantId = await store.addMerchant(host);
  for (let n = 0; n < 3; n += 1) await store.addEvent(merchantId);
  const other = await store.addEvent(await store.addMerchant('single.io'));
  const claimed = await store.claim();
  const opened: string[] = [];
  const vault = {
    ...store.vault,
    open(...[id, sealed]: Parameters<typeof store.vault.open>) {
      opened.push(id);
      return store.vault.open(id, sealed);
    },
  };

  const hostCircuits = createHostCircuits({ recoveredAt: limits.host });
  const attempts = createAttempts({
    ...{ pool: store.pool, vault, sender, hostCircuits },
    inFlight: createInFlightLimits(limits, hostCircuits, () => performance.now()),
    ...{ report: createAttemptReport({ logger: testLogger, metrics: testMetrics }), logger: testLogger },
    ...{ databaseNow: () => new Date(), retryDelaysSeconds: [], onFree: () => undefined },
  });
  await attempts.start(claimed);
  await attempts.idle();

  expect(claimed).toHaveLength(4);
  expect(opened.toSorted()).toEqual([...new Set(claimed.map((delivery) => delivery.key_id))].toSorted());
  expect(await store.stateOf(other)).toMatchObject({ status: 'delivered' });
  expect(receiver.received(host)).toHaveLength(3);
});

describe('a host that refuses connections', () => {
  test('gets no attempts from any merchant, while other hosts do, and gets all events afterwards', async () => {
    const host = 'shared.io';
    refusing.add(host);
    const valueOf = startDelivering(Array<number>(1_000).fill(0));
    const first = await store.addEvent(await store.addMerchant(host));
    const opens = async () => {
      // The event is due again immediately, without waiting for the loop's interval.
      loop!.wake();
      expect(await valueOf('webhook_open_host_circuits')).toBe(1);
    };
    await eventually(opens);
    const atOpening = refused.length;
    expect(atOpening).toBeGreaterThanOrEqual(20);

    const second = await store.addEvent(await store.addMerchant(host));
    const elsewhere = await store.addEvent(await store.addMerchant('elsewhere.io'));
    loop!.wake();
    await isDelivered(elsewhere);
    // The next connection probes the host, with any merchant's event.
    await eventually(() => expect(refused.length).toBeGreaterThan(atOpening));
    const [before, tried] = refused.slice(atOpening - 1);
    expect(tried!.askedMs - before!.refusedMs).toBeGreaterThanOrEqual(1_000);

    refusing.clear();
    await Promise.all([first, second].map(isDelivered));
    expect(await valueOf('webhook_open_host_circuits')).toBe(0);
    expect(receiver.received(host)).toHaveLength(2);
  });

  test('whose circuit opens after its deliveries were claimed gets one of them, and the others are released', async () => {
    const host = 'opening.io';
    for (let n = 0; n < 3; n += 1) await store.addEvent(await store.addMerchant(host));
    const claimed = await store.claim();
    expect(claimed).toHaveLength(3);

    let nowMs = 0;
    const hostCircuits = createHostCircuits({ recoveredAt: limits.host, nowMs: () => nowMs });
    for (let n = 0; n < 20; n += 1, nowMs += 1_000) hostCircuits.record(host, 'connect_refused');
    const attempts = createAttempts({
      ...{ pool: store.pool, vault: store.vault, sender, hostCircuits },
      inFlight: createInFlightLimits(limits, hostCircuits, () => performance.now()),
      ...{ report: createAttemptReport({ logger: testLogger, metrics: testMetrics }), logger: testLogger },
      ...{ databaseNow: () => new Date(), retryDelaysSeconds: [], onFree: () => undefined },
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

test('an event counts as failed only after its last attempt fails', async () => {
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
  // An attempt is counted when it is stored, and a closed loop has counted everything.
  await loop!.close();
  expect(await valueOf('webhook_failed_events_total')).toBe(1);
  expect(receiver.received('failing.io')).toHaveLength(2);
  expect(receiver.received('late.io')).toHaveLength(2);
});
