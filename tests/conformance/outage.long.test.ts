import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import pg from 'pg';
import type { ServiceName } from '@quittance/contracts/service-name.ts';
import { newId } from '@quittance/contracts/ids.ts';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { send } from '../support/http.ts';
import { journeyStack, type JourneyStack } from '../support/journey-stack.ts';
import { expectEach, expectUnavailable, recovered, recovery, type Asked } from './support/availability.ts';
import {
  admitGateway,
  busyConnectionsOfGateway,
  connectionsOfGateway,
  endConnectionsOfGateway,
} from './support/gateway-database.ts';
import { inDatabase } from '../support/database.ts';
import { apiAt, openMerchant, type Api, type Merchant } from '../support/merchant.ts';
import { createAndPay, deliveriesOf, tokenOf, untilRecord } from '../support/paying.ts';
import { rule } from './support/rule.ts';

const rotationPath = '/api/v1/merchant/rotate-key';

/** Answers of the public API while a part of the system is down: 503 in time, never 500, never a hang, never an unchecked success. */
describe('outages', () => {
  let stack: JourneyStack;
  let anybody: Api;
  let merchant: Merchant;
  let payment: Payment;

  beforeAll(async () => {
    stack = await journeyStack();
    anybody = apiAt(stack.file.edge_url);
  });

  afterAll(() => stack.close(), 180_000);

  /** Each test has its own merchant, because its requests count. After an outage it may take a moment until services know it. */
  async function openShop(): Promise<void> {
    const opened = await openMerchant(stack.file);
    merchant = opened;
    const key = randomUUID();
    payment = await eventually(() => opened.created({ amount: '1.01' }, key), recovery);
  }

  const path = (what: string) => `/api/v1/payments/${payment.payment_id}/${what}`;
  const token = () => tokenOf(payment);

  /** All of these need payments. */
  const reads = {
    list: () => merchant.call('GET', '/api/v1/payments'),
    page: () => merchant.call('GET', '/api/v1/payments/page'),
    details: () => merchant.call('GET', path('details')),
    limits: () => merchant.call('GET', '/api/v1/merchant/limits'),
    publicStatus: () => anybody('GET', `/api/v1/payments/${token()}`),
  } satisfies Asked;
  const create = () => merchant.create({ amount: '1.02' });
  const cancel = () => merchant.call('POST', path('cancel'));
  const deliveries = () => merchant.call('GET', path('webhooks'));

  /** These need webhook-dispatcher. */
  const getWebhook = () => merchant.call('GET', '/api/v1/merchant/webhook');
  const putWebhook = () =>
    merchant.call('PUT', '/api/v1/merchant/webhook', { body: { url: `https://${merchant.host}/hooks` } });
  const rotateSigningKey = () => merchant.call('POST', '/api/v1/merchant/webhook/rotate-key');
  const retry = () => merchant.call('POST', `/api/v1/merchant/webhook/events/${newId('evt')}/retry`);
  const webhookCalls = { getWebhook, putWebhook, rotateSigningKey, retry, deliveries };

  const rotateApiKey = () => anybody('POST', rotationPath, { headers: { 'secret-key': merchant.rotationSecret } });

  /** While the process is stopped, the kernel accepts connections for it, but nothing answers. */
  async function whileStopped({ pid }: { pid: number }, run: () => Promise<void>): Promise<void> {
    process.kill(pid, 'SIGSTOP');
    await run().finally(() => process.kill(pid, 'SIGCONT'));
  }

  const processOf = (name: ServiceName) => stack.services.find((service) => service.name === name)!;

  rule(
    ['errors.503', 'errors.body.6', 'endpoint.rule1.retry'],
    'while payments hangs, every call that needs it is 503 in time; a creation repeated with its key succeeds afterwards',
    async () => {
      await openShop();
      const key = randomUUID();
      const createAgain = () => merchant.create({ amount: '1.02' }, key);
      await whileStopped(processOf('payments'), async () => {
        await expectUnavailable('payments hangs', { create: createAgain, ...reads, cancel, deliveries });
        await expectUnavailable('payments still hangs', { create: createAgain, ...reads, cancel });
        expect((await send('GET', `${stack.file.edge_url}/pay/${token()}`)).status).toBe(503);
        await expectEach({ getWebhook, putWebhook }, 200);
      });
      await recovered(reads);
      const made = await eventually(async () => {
        const answer = await createAgain();
        expect(answer.status).toBe(201);
        return answer.json<Payment>();
      }, recovery);
      const { payments } = (await reads.list()).json<{ payments: Payment[] }>();
      const sameOrder = payments.filter(({ amount }) => amount === '1.02');
      expect(sameOrder.map(({ payment_id: id }) => id)).toEqual([made.payment_id]);
    },
  );

  rule(
    ['errors.503', 'errors.body.6'],
    'while payments is down, every call that needs it is 503 at once, and answered again soon after it is back',
    async () => {
      await openShop();
      await processOf('payments').stop();
      try {
        await expectUnavailable('payments is gone', { create, ...reads, cancel, deliveries });
        await expectUnavailable('payments is still gone', { create, ...reads, cancel });
        await expectEach({ getWebhook }, 200);
      } finally {
        await processOf('payments').start();
      }
      await recovered(reads);
    },
  );

  rule(
    'errors.503',
    'when payments is killed under requests, each is answered with success or 503 until it is back',
    async () => {
      await openShop();
      const seen = new Set<number>();
      const killed = processOf('payments').kill();
      await eventually(async () => {
        const answers = await Promise.all([1, 2, 3, 4].map(() => reads.publicStatus()));
        for (const { status } of answers) seen.add(status);
        expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
        expect([...seen]).toContain(503);
      }, recovery);
      await killed;
      expect([...seen].toSorted((a, b) => a - b)).toEqual([200, 503]);
    },
  );

  rule('errors.503', 'while webhook-dispatcher is down, webhook calls are 503 and payments continue', async () => {
    await openShop();
    await whileStopped(processOf('webhook-dispatcher'), async () => {
      await expectUnavailable('webhook-dispatcher hangs', webhookCalls);
      await expectEach(reads, 200);
    });
    await processOf('webhook-dispatcher').stop();
    try {
      await expectUnavailable('webhook-dispatcher is gone', webhookCalls);
      await expectEach(reads, 200);
      await expectEach({ create }, 201);
      await expectEach({ cancel }, 200);
    } finally {
      await processOf('webhook-dispatcher').start();
    }
    await recovered({ getWebhook, deliveries });
  });

  rule(
    ['errors.503', 'errors.body.6'],
    'a limiter without its database admits nothing: every call is 503, and works again once the database is back',
    async () => {
      await openShop();
      await admitGateway(stack.file, false);
      await endConnectionsOfGateway(stack.file);
      try {
        const all = { create, ...reads, cancel, ...webhookCalls, rotateApiKey };
        await expectUnavailable('the gateway cannot log in', all);
        expect((await anybody('GET', '/api/v1/payments')).status).toBe(401);
      } finally {
        await admitGateway(stack.file, true);
      }
      await recovered(reads);
      await expectNothingHappened();
      await expectEach({ rotateApiKey }, 200);
    },
  );

  rule(
    ['errors.503', 'errors.body.6'],
    'a limiter whose counters are locked is 503 in time, and a request answered 503 has no effect, then or later',
    async () => {
      await openShop();
      const locker = new pg.Client({ connectionString: stack.file.postgres_url });
      await locker.connect();
      await locker.query('begin; lock table gateway.rate_limit_window in access exclusive mode');
      try {
        await expectUnavailable('the counters are locked', { create, ...reads, cancel, rotateApiKey });
      } finally {
        await locker.end();
      }
      await recovered(reads);
      await expectNothingHappened();
    },
  );

  rule(
    ['errors.503', 'errors.body.6'],
    'a limiter whose database does not answer is 503 in time, and a request answered 503 has no effect, then or later',
    async () => {
      await openShop();
      const backends = await connectionsOfGateway(stack.file);
      expect(backends).not.toEqual([]);
      await admitGateway(stack.file, false);
      for (const pid of backends) process.kill(pid, 'SIGSTOP');
      try {
        await expectUnavailable('the database is silent', { create, ...reads, cancel, rotateApiKey });
      } finally {
        for (const pid of backends) process.kill(pid, 'SIGCONT');
        await admitGateway(stack.file, true);
      }
      await recovered(reads);
      await expectNothingHappened();
    },
  );

  rule(
    ['errors.503', 'endpoint.create'],
    'without the message broker payments are created, read and cancelled as usual',
    async () => {
      await openShop();
      await stack.backends.broker!.stopApp();
      try {
        await expectEach({ create }, 201);
        await expectEach(reads, 200);
        await expectEach({ cancel, putWebhook }, 200);
      } finally {
        await stack.backends.broker!.startApp();
      }
    },
  );

  rule(
    ['errors.503', 'errors.body.6'],
    'a request answered 503 while a service was paused has had no effect, and has none when the service resumes',
    async () => {
      await openShop();
      const paid = await createAndPay(stack.file, merchant, { amount: '1.03' });
      const { event_id: event } = await untilRecord(
        { merchant, payment: paid },
        ({ status }) => status === 'delivered',
      );
      await inDatabase(
        stack.file,
        `update webhooks.delivery set status = 'failed', error_category = 'http_5xx', delivered_at = null where event_id = $1`,
        [event],
      );
      const state = async () => ({
        payments: (await reads.list())
          .json<{ payments: Payment[] }>()
          .payments.map(({ payment_id: id, status }) => [id, status]),
        webhook: (await getWebhook()).json<object>(),
        deliveries: await deliveriesOf(merchant, paid),
      });
      const before = await state();
      const changes = {
        ...{ create, cancel, rotateSigningKey },
        putWebhook: () =>
          merchant.call('PUT', '/api/v1/merchant/webhook', { body: { url: `https://${merchant.host}/elsewhere` } }),
        retry: () => merchant.call('POST', `/api/v1/merchant/webhook/events/${event}/retry`),
      };
      await whileStopped(processOf('payments'), () =>
        whileStopped(processOf('webhook-dispatcher'), () => expectUnavailable('two services stand still', changes)),
      );
      await recovered({ ...reads, getWebhook });
      expect(await state()).toEqual(before);
      // Nothing is blocked either: each of them succeeds now.
      await expectEach({ create }, 201);
      await expectEach({ cancel: changes.cancel, putWebhook: changes.putWebhook }, 200);
      await expectEach({ retry: changes.retry }, 202);
    },
  );

  rule(
    ['errors.503', 'endpoint.rule8.rotation'],
    'a gateway that was paused during changes answers their true outcome when it resumes',
    async () => {
      await openShop();
      const gateway = processOf('api-gateway');
      const direct = apiAt(gateway.url);
      let apiKey = merchant.apiKey;
      for (let round = 0; round < 4; round += 1) {
        const headers = { 'X-API-Key': apiKey, 'Idempotency-Key': randomUUID() };
        const body = { amount: `2.${round}`, merchant_wallet: merchant.wallet, description: 'Tea' };
        const creation = direct('POST', '/api/v1/payments', { headers, body });
        const rotation = direct('POST', rotationPath, { headers: { 'secret-key': merchant.rotationSecret } });
        await pause(Math.random() * 25);
        await whileStopped(gateway, () => pause(2_600));
        const [created, rotated] = await Promise.all([creation, rotation]);
        expect([200, 503]).toContain(rotated.status);
        if (rotated.status === 200) apiKey = rotated.json<{ new_api_key: string }>().new_api_key;
        // 401 if the rotation came first.
        expect([201, 401, 503]).toContain(created.status);
        // The known key works, so no other one was set. The payment exists if and only if it was answered.
        const list = await eventually(async () => {
          const answer = await direct('GET', '/api/v1/payments', { headers: { 'X-API-Key': apiKey } });
          expect(answer.status).toBe(200);
          return answer.json<{ payments: Payment[] }>().payments;
        }, recovery);
        expect(list.some(({ amount }) => amount === body.amount)).toBe(created.status === 201);
      }
    },
  );

  /** Requests refused without the limiter created and cancelled nothing, and the API key is unchanged. */
  async function expectNothingHappened(): Promise<void> {
    // Waiting work could continue now, if it was not abandoned.
    await eventually(async () => expect(await busyConnectionsOfGateway(stack.file)).toEqual([]));
    const { payments } = (await reads.list()).json<{ payments: Payment[] }>();
    expect(payments).toMatchObject([{ payment_id: payment.payment_id, status: 'PENDING' }]);
  }
});
