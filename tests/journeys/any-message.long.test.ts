import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { newId } from '@quittance/contracts/ids.ts';
import { connectBroker, type Broker } from '@quittance/messaging/broker/broker.ts';
import { SIGNATURE_HEADER, signMessages } from '@quittance/messaging/broker/signature.ts';
import { bindings, EXCHANGE } from '@quittance/messaging/broker/topology.ts';
import { signerOfKey } from '@quittance/runtime/trust.ts';
import { damagedJson, type Json } from '@quittance/testkit/damaged.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger, testMetrics } from '@quittance/testkit/logger.ts';
import { amountOf, seedOf } from '@quittance/testkit/random-runs.ts';
import { examples as validBodies } from '../../packages/messaging/asyncapi/examples.ts';
import { expectHealthy } from '../support/healthy.ts';
import { send } from '../support/http.ts';
import { journeyStack, type JourneyStack } from '../support/journey-stack.ts';

/** Optional fields that the documented examples do not have. */
const optional: Record<string, { [name: string]: Json }> = {
  WebhookConfigured: { events: ['PAID', 'EXPIRED'], version: 3 },
  PaymentPaid: { order_id: 'o 1', metadata: { a: 'b' }, requested_amount: '10' },
  NoticeRaised: { metadata: { a: 'b' }, requested_amount: '10' },
};

/** One valid body of each message with its optional fields, about a network that the stack has. */
const bodies: Record<string, { [name: string]: Json }> = Object.fromEntries(
  Object.entries<{ [name: string]: Json }>(validBodies).map(([name, body]) => [
    name,
    JSON.parse(JSON.stringify({ ...body, ...optional[name] }).replaceAll('"ethereum"', '"local"')) as {
      [name: string]: Json;
    },
  ]),
);

/** Values that the schemas allow and no column can hold. The first such message was retried again and again. */
const notStorable: [name: string, change: { [name: string]: Json }][] = [
  ['MerchantStatusChanged', { status_version: 2 ** 53 }],
  ['AccessChanged', { total_limit: 2 ** 40, policy_version: 9 }],
  ['PaymentCreated', { created_at: '2026-02-30T25:00:00.000Z' }],
];

/** A body that is a text is sent as it is, anything else as JSON. `version` is a header; null leaves it out. */
type Message = { name: string; body: Json; version: Json };

let stack: JourneyStack;
let broker: Broker;

beforeAll(async () => {
  stack = await journeyStack({ sharesBroker: true });
  broker = connectBroker({ url: stack.file.amqp_url, name: 'test', logger: testLogger, metrics: testMetrics });
  await eventually(() => expect(broker.canPublish()).toBe(true));
});
afterAll(async () => {
  await broker.close();
  await stack.close();
});

/** Signed as its publisher does: an unsigned message reaches no handler. */
async function publish({ name, body: value, version }: Message): Promise<void> {
  const messageId = randomUUID();
  const body = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
  const publisher = bindings.find(({ message }) => message.name === name)!.message.published_by;
  const [signature] = signMessages(signerOfKey(stack.file.signing_keys[publisher]), [
    { name, version: version === null ? Number.NaN : Number(version), messageId, body },
  ]);
  const properties = {
    ...{ messageId, persistent: true, type: name, contentType: 'application/json' },
    headers: { ...(version !== null && { version }), [SIGNATURE_HEADER]: signature },
  };
  const [outcome] = await broker.publish([{ exchange: EXCHANGE, routingKey: name, body, properties }]);
  if (outcome !== 'confirmed') throw new Error(`RabbitMQ has ${outcome} the message`);
}

/** How the handling of a message can end. A failed one is retried for minutes. */
const ends = ['done', 'duplicate', 'dead', 'failed'] as const;
type Counts = Record<(typeof ends)[number], number>;

async function countsOf(name: string): Promise<Map<string, Counts>> {
  const counted = bindings
    .filter(({ message }) => message.name === name)
    .map(async ({ service, handler, queue }) => {
      const { text } = await send('GET', `${stack.file.services[service].url}/metrics`);
      return [queue, countsIn(text, handler)] as const;
    });
  return new Map(await Promise.all(counted));
}

function countsIn(metrics: string, handler: string): Counts {
  const lines = metrics
    .split('\n')
    .filter((line) => line.startsWith('messaging_consumed_total{') && line.includes(`"${handler}"`));
  const count = (result: string) =>
    Number(
      lines
        .find((line) => line.includes(`"${result}"`))
        ?.split(' ')
        .at(-1) ?? 0,
    );
  return { done: count('done'), duplicate: count('duplicate'), dead: count('dead'), failed: count('failed') };
}

/** Publishes a message. @returns how its handling ended in each queue. */
async function handled(message: Message): Promise<Record<string, string | undefined>> {
  const before = await countsOf(message.name);
  await publish(message);
  return eventually(
    async () => {
      const outcomes = [...(await countsOf(message.name))].map(
        ([queue, now]) => [queue, ends.find((end) => now[end] > before.get(queue)![end])] as const,
      );
      if (outcomes.some(([, outcome]) => outcome === undefined)) throw new Error('it is not handled everywhere');
      return Object.fromEntries(outcomes);
    },
    { timeoutMs: 30_000, intervalMs: 5 },
  );
}

const messages = fc.constantFrom(...Object.keys(bodies)).chain((name) =>
  fc.record<Message>({
    name: fc.constant(name),
    body: fc.oneof({ weight: 6, arbitrary: damagedJson([bodies[name]!]) }, fc.json(), fc.string(), fc.constant(null)),
    version: fc.constantFrom<Json[]>(1, 1, 1, 1, 1, 0, 2, '1', 'x', null),
  }),
);

const examples: [Message][] = [
  ...Object.entries(bodies).map(([name, body]): [Message] => [{ name, body, version: 1 }]),
  ...notStorable.map(([name, change]): [Message] => [{ name, body: { ...bodies[name], ...change }, version: 1 }]),
];

test('any message takes effect or becomes a dead letter immediately, and delays no other message', async () => {
  await fc.assert(
    fc.asyncProperty(messages, async (message) => {
      expect(Object.values(await handled(message))).not.toContain('failed');
    }),
    { numRuns: amountOf({ short: 60, long: 1_500 }) + examples.length, seed: seedOf(20_261_127), examples },
  );
  const merchant_id = newId('mer');
  const good = { name: 'MerchantStatusChanged', body: { ...bodies['MerchantStatusChanged'], merchant_id }, version: 1 };
  expect(new Set(Object.values(await handled(good)))).toEqual(new Set(['done']));
  await expectHealthy(stack.services);
}, 900_000);
