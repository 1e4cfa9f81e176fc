import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connectBroker } from '@quittance/messaging/broker/broker.ts';
import type { Broker } from '@quittance/messaging/broker/broker.ts';
import { DEAD_EXCHANGE } from '@quittance/messaging/broker/topology.ts';
import { testBroker } from '@quittance/testkit/broker.ts';
import type { TestBroker } from '@quittance/testkit/broker.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger, testMetrics } from '@quittance/testkit/logger.ts';
import { runOps } from './world.ts';

const queue = 'quota.payment-created';
let rabbitmq: TestBroker;
let broker: Broker;
/** What is told where no broker is, and where it does not know the password. Both try for ten seconds, so they begin first. */
let refusals: ReturnType<typeof runOps>[];
beforeAll(async () => {
  rabbitmq = await testBroker();
  const wrong = new URL(rabbitmq.url);
  wrong.password = 'not-the-password';
  refusals = ['amqp://127.0.0.1:1/', wrong.href].map((url) => runOps(['dead-letter', 'list'], { AMQP_URL: url }, {}));
  broker = connectBroker({ url: rabbitmq.url, name: 'test', logger: testLogger, metrics: testMetrics });
  await eventually(() => expect(broker.ready()).toBe(true));
});
afterAll(async () => {
  await broker.close();
  await rabbitmq.close();
});

const ops = async (...words: string[]) => {
  const result = await runOps(['dead-letter', ...words, '--json'], { AMQP_URL: rabbitmq.url });
  return { ...result, json: result.stdout === '' ? null : (JSON.parse(result.stdout) as unknown) };
};

/** Puts a message where one that a handler gave up would lie. */
async function die(): Promise<string> {
  const messageId = randomUUID();
  const properties = {
    messageId,
    type: 'PaymentCreated',
    headers: { reason: 'permanent', version: 1 },
    persistent: true,
  };
  const letter = { exchange: DEAD_EXCHANGE, routingKey: queue, body: Buffer.from('{"broken":true}'), properties };
  expect(await broker.publish([letter])).toEqual(['confirmed']);
  return messageId;
}

test('a dead letter is listed, shown with its body, and redriven to its queue alone', async () => {
  const [first, second] = [await die(), await die()];

  const listed = await ops('list', '--queue', queue);
  expect(listed).toMatchObject({
    code: 0,
    json: { dead_letters: [{ message_id: first, queue }, { message_id: second }] },
  });
  expect(await ops('show', queue, second)).toMatchObject({
    code: 0,
    json: { message_id: second, body: '{"broken":true}' },
  });

  expect(await ops('redrive', queue, first)).toMatchObject({ code: 0, json: { redriven: 1 } });
  expect(await ops('list')).toMatchObject({ json: { dead_letters: [{ message_id: second }] } });
  expect(await ops('redrive', queue)).toMatchObject({ code: 0, json: { redriven: 1 } });
  expect(await ops('list')).toMatchObject({ json: { dead_letters: [] } });
});

test('a whole queue is sent back only after a yes to how many, and what is left is counted', async () => {
  await die();
  await die();
  const env = { AMQP_URL: rabbitmq.url };
  const asked = await runOps(['dead-letter', 'redrive', queue], env);
  expect(asked).toMatchObject({ code: 2, stderr: expect.stringMatching(/Send all 2 dead letters back to .*--yes/) });
  const listed = await runOps(['dead-letter', 'list', '--limit', '1'], env);
  expect(listed).toMatchObject({ code: 0, stderr: '1 of 2; --limit shows more.\n' });
  const result = await runOps(['dead-letter', 'redrive', queue, '--yes'], env);
  expect(result).toEqual({ code: 0, stderr: '', stdout: 'sent back   2\nstill dead  0\n' });
});

test('letters of one cause are discarded for good after a yes and with a reason, and the audit has who did what to which', async () => {
  const [first, second] = [await die(), await die()];
  const env = { AMQP_URL: rabbitmq.url };
  const summary = await runOps(['dead-letter', 'summary', '--queue', queue], env);
  expect(summary.stdout).toMatch(/quota\.payment-created +PaymentCreated +2 .* permanent /);
  expect(summary.stderr).toBe('No process consumes quota.payment-created: its messages wait.\n');

  const words = ['dead-letter', 'discard', queue, '--cause', 'permanent'];
  expect(await runOps(words, env)).toMatchObject({ code: 2, stderr: expect.stringMatching(/--reason/) });
  const reasoned = [...words, '--reason', 'a test', '--actor', 'olga'];
  const asked = await runOps(reasoned, env);
  expect(asked).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/Discard for good all 2 dead letters .*--yes/),
  });
  expect(await ops('discard', queue, '--cause', 'another', '--reason', 'a test')).toMatchObject({
    json: { discarded: 0, left: 2 },
  });

  expect(await runOps([...reasoned, '--limit', '1', '--yes'], env)).toMatchObject({
    stdout: 'discarded   1\nstill dead  1\n',
  });
  expect(await ops('redrive', queue, second, '--actor', 'pavel', '--reason', 'mended')).toMatchObject({ code: 0 });
  expect(await ops('audit', '--limit', '2')).toMatchObject({
    json: {
      actions: [
        { action: 'redrive', actor: 'pavel', reason: 'mended', letter: { message_id: second } },
        { action: 'discard', actor: 'olga', reason: 'a test', letter: { message_id: first, body: '{"broken":true}' } },
      ],
    },
  });
  const audit = await runOps(['dead-letter', 'audit', '--limit', '1'], env);
  expect(audit.stdout).toMatch(new RegExp(`pavel +redrive +quota.payment-created +${second} +mended`));
});

test('a message that is not there is refused', async () => {
  const messageId = randomUUID();
  expect(await ops('show', queue, messageId)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: `${queue} has no dead letter ${messageId}.\n`,
  });
  expect(await ops('redrive', queue, messageId)).toMatchObject({ code: 1, stdout: '' });
});

test('a broker that is away, or does not know the password, is named with its complaint', async () => {
  const [nobody, refused] = await Promise.all(refusals);
  expect(nobody).toMatchObject({ code: 3, stdout: '', stderr: expect.stringMatching(/ECONNREFUSED.*127\.0\.0\.1:1/) });
  expect(refused).toMatchObject({ code: 3, stderr: expect.stringMatching(/ACCESS_REFUSED/) });
  expect(refused?.stderr).not.toContain('not-the-password');
});
