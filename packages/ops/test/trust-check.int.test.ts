import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { serviceNames } from '@quittance/contracts/service-name.ts';
import type { TrustState } from '@quittance/contracts/http/trust.ts';
import { type Broker, connectBroker } from '@quittance/messaging/broker/broker.ts';
import { DEAD_EXCHANGE } from '@quittance/messaging/broker/topology.ts';
import { type TestBroker, testBroker } from '@quittance/testkit/broker.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger, testMetrics } from '@quittance/testkit/logger.ts';
import { runOps, startServices } from './world.ts';

let rabbitmq: TestBroker;
let broker: Broker;
beforeAll(async () => {
  rabbitmq = await testBroker();
  broker = connectBroker({ url: rabbitmq.url, name: 'test', logger: testLogger, metrics: testMetrics });
  await eventually(() => expect(broker.ready()).toBe(true));
});
afterAll(async () => {
  await broker.close();
  await rabbitmq.close();
});

describe('trust check', () => {
  const ready: TrustState = {
    ...{ has_key: true, accepts_internal_token: true, watched_seconds: 4_000 },
    legacy: [{ kind: 'shared_token', last_at: '2026-11-26T10:00:00.000Z', seconds_ago: 3_600 }],
  };

  async function check(state: TrustState, env: Record<string, string> = {}, command = 'check') {
    await using services = await startServices({ 'GET /trust': () => ({ status: 200, body: state }) });
    return await runOps(['trust', command], { ...services.env, AMQP_URL: rabbitmq.url, ...env });
  }

  test.each(['check', 'enforce'])('says what to remove once nobody has needed it for an hour: %s', async (command) => {
    const { code, stdout } = await check(ready, {}, command);
    expect(stdout).toContain('Remove INTERNAL_TOKEN and INTERNAL_TOKEN_PREVIOUS from every process');
    expect(code).toBe(0);
  });

  test('says that nothing is to be done where no service has it', async () => {
    const { code, stdout } = await check({ ...ready, accepts_internal_token: false, watched_seconds: null });
    expect(stdout).toContain('there is nothing to remove');
    expect(code).toBe(0);
  });

  const justNow = (kind: TrustState['legacy'][number]['kind']): Partial<TrustState> => ({
    legacy: [{ kind, last_at: '2026-11-26T11:00:00.000Z', seconds_ago: 3_599 }],
  });
  test.each<[string, Partial<TrustState>]>([
    ['has no SIGNING_KEY', { has_key: false }],
    ['accepted a call by INTERNAL_TOKEN alone, last at 2026-11-26 11:00:00Z', justNow('shared_token')],
    ["accepted an operator's token that api-gateway's key has not signed", justNow('operator_token')],
    ['accepted a message that nobody signed', justNow('unsigned_message')],
    ['had a process without a SIGNING_KEY', justNow('process_without_key')],
    ['has watched for 59 minutes only', { watched_seconds: 3_599 }],
    ['has watched for 0 minutes only', { watched_seconds: null }],
  ])('is refused while a service %s', async (what, change) => {
    const { code, stdout, stderr } = await check({ ...ready, ...change });
    for (const name of serviceNames) expect(stdout).toContain(`${name} ${what}`);
    expect(stderr).toContain('INTERNAL_TOKEN is still needed');
    expect(code).toBe(1);
  });

  test('is refused while dead letters wait that nobody signed', async () => {
    const properties = { messageId: randomUUID(), type: 'PaymentCreated', headers: { version: 1 }, persistent: true };
    const letter = { exchange: DEAD_EXCHANGE, routingKey: 'quota.payment-created', body: Buffer.from('{}') };
    expect(await broker.publish([{ ...letter, properties }])).toEqual(['confirmed']);
    const { code, stdout } = await check(ready);
    expect(stdout).toContain('quota.payment-created has 1 dead letters that nobody signed');
    expect(code).toBe(1);
  });

  test('is not safe while a service does not answer', async () => {
    const { code, stderr } = await check(ready, { QUOTA_URL: 'http://127.0.0.1:1' });
    expect(stderr).toContain('quota at http://127.0.0.1:1 gave no answer');
    expect(code).toBe(3);
  });
});
