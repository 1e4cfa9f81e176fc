import tls from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import type { Loop } from '@quittance/runtime/loop.ts';
import { tracer } from '@quittance/runtime/tracing/tracing.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger, testMetrics } from '@quittance/testkit/logger.ts';
import { recordSpans } from '@quittance/testkit/spans.ts';
import { createConnector } from '../src/sending/dial.ts';
import { localReceiver } from '../src/sending/ways-out.ts';
import { startDeliverLoop } from '../src/lanes/deliver.ts';
import { createBackPressure, type BackPressure } from '../src/lanes/back-pressure.ts';
import { limits } from '../src/lanes/in-flight-limits.ts';
import { createSender, type Sender } from '../src/sending/sender.ts';
import { byMerchant } from '../src/endpoints/audit.sql.ts';
import { insertEvents } from '../src/events/event.sql.ts';
import { startCycle } from '../src/events/retry.sql.ts';
import { createAuthority } from './certificates.ts';
import { startReceiver, status, type Receiver } from './receiver.ts';
import { startStoreWorld, type StoreWorld } from './store-world.ts';

// Longer than any wait inside a test, so that a failure shows the wait's own error.
let store: StoreWorld;
let receiver: Receiver;
let sender: Sender;
let pressure: BackPressure;
let loop: Loop;
let spans: ReturnType<typeof recordSpans>;

beforeAll(async () => {
  const authority = await createAuthority();
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), authority.certificate]);
  [store, receiver] = await Promise.all([startStoreWorld(), startReceiver(authority)]);
  const connector = createConnector(localReceiver({ address: '127.0.0.1', port: receiver.port }));
  const clock = () => new Date();
  sender = createSender({ connector, clock });
  pressure = createBackPressure({ clock, logger: testLogger, metrics: testMetrics });
});
beforeEach(async () => {
  await store.empty();
  spans = recordSpans();
  loop = startDeliverLoop({
    ...{ pool: store.pool, vault: store.vault, sender, pressure, limits },
    ...{ retryDelaysSeconds: [0], logger: testLogger, metrics: testMetrics, stopping: new AbortController().signal },
  });
});
afterEach(async () => {
  await loop.close();
  spans.stop();
});
afterAll(async () => {
  pressure.close();
  await sender.close();
  await receiver.close();
  await store.stop();
});

/** A merchant's event, written in this trace. */
async function addEvent(host: string, traceparent: string | null): Promise<{ eventId: string; merchantId: string }> {
  const merchantId = await store.addMerchant(host);
  const [eventId, paymentId] = [newId('evt'), newId('pay')];
  const event = { eventId, paymentId, merchantId, body: Buffer.from('{}'), traceparent };
  await transaction(store.pool, (tx) => insertEvents(tx, [event]));
  return { eventId, merchantId };
}

const settled = (eventId: string, state: string) =>
  eventually(async () => {
    loop.wake();
    expect(await store.stateOf(eventId)).toMatchObject({ status: state });
  });

const paid = () => tracer()!.start('paid', 'consumer', { origin: { parent: null } }).traceparent;

test('each attempt is in the trace of its event, and no trace header goes to the receiver', async () => {
  const host = 'traced.io';
  receiver.answer(host, status(500));
  const traceparent = paid();
  const { eventId, merchantId } = await addEvent(host, traceparent);
  await settled(eventId, 'failed');
  const attempts = await spans.named('POST webhook', 2);
  expect(attempts).toHaveLength(2);
  for (const attempt of attempts) {
    expect(attempt).toMatchObject({
      kind: 'client',
      traceId: traceparent.slice(3, 35),
      parentSpanId: traceparent.slice(36, 52),
      attributes: {
        'http.request.method': 'POST',
        'server.address': host,
        'http.response.status_code': 500,
        'error.type': 'http_5xx',
        'quittance.event_id': eventId,
      },
    });
  }
  expect(attempts.map(({ attributes }) => attributes['http.request.resend_count'])).toEqual([0, 1]);

  // A later manual retry has its own trace, with a link to the first one.
  receiver.answer(host, status(200));
  await transaction(store.pool, (tx) =>
    startCycle(tx, { eventId, merchantId, author: byMerchant, action: 'event_retried' }),
  );
  await settled(eventId, 'delivered');
  const [, , retried] = await spans.named('POST webhook', 3);
  expect(retried).toMatchObject({ parentSpanId: null, links: [traceparent.slice(36, 52)] });
  expect(retried!.traceId).not.toBe(traceparent.slice(3, 35));
  expect(receiver.received(host)).toHaveLength(3);
  for (const { headers } of receiver.received(host)) expect(headers).not.toHaveProperty('traceparent');
});

test('an attempt more than an hour later is linked to the trace of its event', async () => {
  const traceparent = paid();
  await loop.close();
  const { eventId } = await addEvent('late.io', traceparent);
  await store.pool.query(`update event set created_at = now() - interval '2 hours'`);
  loop = startDeliverLoop({
    ...{ pool: store.pool, vault: store.vault, sender, pressure, limits },
    ...{ retryDelaysSeconds: [0], logger: testLogger, metrics: testMetrics, stopping: new AbortController().signal },
  });
  await settled(eventId, 'delivered');
  const [attempt] = await spans.named('POST webhook');
  expect(attempt).toMatchObject({ parentSpanId: null, links: [traceparent.slice(36, 52)] });
});

test.each([
  ['that is not sampled', `00-${'c'.repeat(32)}-${'d'.repeat(16)}-00`],
  ['that nobody traced', null],
])('an event %s is delivered without a span, and has no traceparent', async (_text, traceparent) => {
  const { eventId } = await addEvent('untraced.io', traceparent);
  await settled(eventId, 'delivered');
  expect(spans.ended()).toEqual([]);
  const { rows } = await store.pool.query('select traceparent from event where event_id = $1', [eventId]);
  expect(rows).toEqual([{ traceparent: null }]);
});
