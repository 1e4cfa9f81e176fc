import { createHash, randomUUID } from 'node:crypto';
import { beforeAll, describe, expect } from '@jest/globals';
import { newId, newPublicToken, newSecret } from '@quittance/contracts/ids.ts';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import type { HttpAnswer } from '../../support/http.ts';
import type { Contract } from '../conformance.test.ts';
import { expectAdmitted, expectRefused, expectStatuses, repeated } from '../support/counted.ts';
import { inDatabase } from '../../support/database.ts';
import { apiAt, openMerchant, type Api, type Merchant } from '../../support/merchant.ts';
import { createAndPay, tokenOf, untilRecord } from '../../support/paying.ts';
import { rule } from '../support/rule.ts';

const SHARED_READS = 120;
const CREATIONS = 30;
const CANCELLATIONS = 60;
const SETTINGS = 10;
const RETRIES = 5;
const AT_ONCE = 200;

/** The application's counters: what each admits, and which calls share it or count. Their windows are in rate-windows.ts. */
export function rateLimitsSection(contract: Contract): void {
  describe('application rate limits', () => {
    let edge: Api;
    let replicas: Api[];

    beforeAll(() => {
      edge = apiAt(contract.stack.edge_url);
      replicas = contract.stack.services['api-gateway'].replicas.map(({ url }) => apiAt(url));
    });

    /** Sends half of the requests to each replica, all at the same time. */
    const atOnce = (ask: (api: Api, index: number) => Promise<HttpAnswer>) =>
      Promise.all(Array.from({ length: AT_ONCE }, (_, index) => ask(replicas[index % replicas.length]!, index)));

    rule(
      ['limits.app.rule1', 'limits.app.list', 'limits.app.page', 'limits.app.details', 'limits.app.webhooks'],
      'of 200 simultaneous reads, mixed over the six endpoints and both replicas, exactly 120 are admitted',
      async () => {
        const merchant = await openMerchant(contract.stack);
        const payment = await merchant.created();
        const paths = sharedReads(payment.payment_id);
        const headers = { 'X-API-Key': merchant.apiKey };
        const answers = await atOnce((api, index) => api('GET', paths[index % paths.length]!, { headers }));
        expectAdmitted(answers, 200, SHARED_READS);
        const after = await Promise.all(paths.map((path) => merchant.call('GET', path)));
        for (const answer of after) expectRefused(answer, 60);
      },
    );

    rule(
      ['limits.app.rule1', 'limits.app.limits', 'limits.app.get-webhook'],
      'the six reads take turns through 120 requests and are then refused together, while other counters are not',
      async () => {
        const merchant = await openMerchant(contract.stack);
        const payment = await merchant.created();
        const paths = sharedReads(payment.payment_id);
        for (let round = 0; round < SHARED_READS / paths.length; round += 1) {
          const answers = await Promise.all(paths.map((path) => merchant.call('GET', path)));
          expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 200));
        }
        for (const answer of await Promise.all(paths.map((path) => merchant.call('GET', path)))) {
          expectRefused(answer, 60);
        }
        const others = [
          merchant.create({ amount: '11' }),
          merchant.call('POST', `/api/v1/payments/${payment.payment_id}/cancel`),
          merchant.call('PUT', '/api/v1/merchant/webhook', { body: { url: `https://${merchant.host}/hooks` } }),
          merchant.call('POST', retryPath(newId('evt'))),
        ];
        expect((await Promise.all(others)).map(({ status }) => status)).toEqual([201, 200, 200, 404]);
        const neighbour = await openMerchant(contract.stack);
        expect((await neighbour.call('GET', '/api/v1/payments')).status).toBe(200);
      },
    );

    rule(
      ['limits.app.create', 'limits.app.rule3'],
      'of 200 simultaneous creations over both replicas exactly 30 are admitted; cancelling them has its own counter',
      async () => {
        const merchant = await openMerchant(contract.stack);
        const answers = await atOnce((api, index) =>
          api('POST', '/api/v1/payments', {
            headers: { 'X-API-Key': merchant.apiKey, 'Idempotency-Key': randomUUID() },
            body: { amount: `${index + 1}`, merchant_wallet: merchant.wallet, description: 'One of many' },
          }),
        );
        expectAdmitted(answers, 201, CREATIONS);
        const { payments } = (await merchant.call('GET', '/api/v1/payments')).json<{ payments: object[] }>();
        // Creations answered 503 for being late have no effect.
        const [made, ...others] = answers.filter(({ status }) => status === 201);
        expect(payments).toHaveLength(1 + others.length);
        const cancelled = await merchant.call('POST', `/api/v1/payments/${made!.json<Payment>().payment_id}/cancel`);
        expect(cancelled.status).toBe(200);
        expectRefused(await merchant.create({ amount: '9999' }), 60);
      },
    );

    rule(
      ['limits.app.public-status', 'endpoint.rule3.public-status'],
      'of 200 simultaneous reads of one public token exactly 120 are admitted, for all clients together; other tokens have their own counter',
      async () => {
        const merchant = await openMerchant(contract.stack);
        const [one, other] = await Promise.all([
          merchant.created({ amount: '6.01' }),
          merchant.created({ amount: '6.02' }),
        ]);
        const path = (payment: Payment) => `/api/v1/payments/${tokenOf(payment)}`;
        const answers = await atOnce((api) => api('GET', path(one)));
        expectAdmitted(answers, 200, SHARED_READS);
        // Another viewer, another address, and the merchant itself share one counter.
        expectRefused(await edge('GET', path(one)), 60);
        expectRefused(await merchant.call('GET', path(one)), 60);
        expect((await edge('GET', path(other))).status).toBe(200);
        expect((await merchant.call('GET', '/api/v1/payments')).status).toBe(200);
      },
    );

    rule(
      ['limits.app.cancel', 'limits.app.rule3', 'limits.app.rule6'],
      'sixty cancellations are admitted, refused ones too, and creation still has its own counter',
      async () => {
        const merchant = await openMerchant(contract.stack);
        const payment = await merchant.created({ amount: '7.01' });
        const cancel = () => merchant.call('POST', `/api/v1/payments/${payment.payment_id}/cancel`);
        expect((await cancel()).status).toBe(200);
        expectStatuses(await repeated(CANCELLATIONS - 1, cancel), 409);
        expectRefused(await cancel(), 60);
        expect((await merchant.create({ amount: '7.02' })).status).toBe(201);
      },
    );

    rule(
      ['limits.app.rule2', 'limits.app.put-webhook', 'limits.app.rotate-webhook-key', 'limits.app.rule6'],
      'URL updates and signing-key rotations together are admitted ten times; invalid ones do not count',
      async () => {
        const merchant = await openMerchant(contract.stack, { webhook: false });
        const put = (url: string) => merchant.call('PUT', '/api/v1/merchant/webhook', { body: { url } });
        const rotate = () => merchant.call('POST', '/api/v1/merchant/webhook/rotate-key');
        // Before the first PUT there is no key to rotate: a 409, which counts.
        expect((await rotate()).status).toBe(409);
        expectStatuses(await repeated(SETTINGS + 1, () => put('http://shop.example.com/hooks')), 422);
        const turns = Array.from({ length: SETTINGS - 1 }, (_, index) => index);
        for (const turn of turns) {
          const answer = await (turn % 2 === 0 ? put(`https://${merchant.host}/${turn}`) : rotate());
          expect(answer.status).toBe(200);
        }
        expectRefused(await put(`https://${merchant.host}/hooks`), 60);
        expectRefused(await rotate(), 60);
        expect((await merchant.call('GET', '/api/v1/merchant/webhook')).status).toBe(200);
      },
    );

    rule(
      ['limits.app.rule5', 'limits.app.rule6', 'errors.body.7', 'quota.5'],
      'thirty creations are admitted, replays and conflicts among them; a refusal with 401 or 422 does not count, and 413 does',
      async () => {
        const merchant = await openMerchant(contract.stack);
        const key = randomUUID();
        const first = await merchant.create({}, key);
        expect(first.status).toBe(201);
        const uncounted = await Promise.all([
          repeated(CREATIONS, () => merchant.create({ amount: '0' })),
          repeated(3, () => merchant.call('POST', '/api/v1/payments', { headers: { 'X-API-Key': newSecret('qk') } })),
        ]);
        for (const [index, status] of [422, 401].entries()) expectStatuses(uncounted[index]!, status);
        expectStatuses(await repeated(3, () => merchant.create({ description: 'x'.repeat(66_000) })), 413);
        expectStatuses(await repeated(2, () => merchant.create()), 409);
        expectStatuses(await repeated(2, () => merchant.create({ amount: '1' }, key)), 409);
        const replays = await repeated(CREATIONS - 8, () => merchant.create({}, key));
        for (const replay of replays) expect([replay.status, replay.text]).toEqual([201, first.text]);
        expectRefused(await merchant.create({}, key), 60);
        const limits = await merchant.call('GET', '/api/v1/merchant/limits');
        expect(limits.json()).toMatchObject({ lifetime_requests_used: 1 });
      },
    );

    rule(['limits.app.rule6', 'errors.403'], 'creations refused with 403 count like any other', async () => {
      const merchant = await openMerchant(contract.stack, { access_type: 'beta' });
      expectStatuses(await repeated(CREATIONS, () => merchant.create()), 403);
      expectRefused(await merchant.create(), 60);
    });

    rule(
      ['limits.app.retry', 'endpoint.rule5.retry', 'errors.429', 'errors.body.4'],
      'five manual retries an hour are admitted, those answered 404 and 409 among them; after the hour, five more',
      async () => {
        const merchant = await openMerchant(contract.stack);
        const eventId = await deliveredEvent(merchant);
        expectStatuses(await repeated(2, () => merchant.call('POST', retryPath(eventId))), 409);
        expectStatuses(await repeated(2, () => merchant.call('POST', retryPath(newId('evt')))), 404);
        expectStatuses(await repeated(1, () => merchant.call('POST', retryPath('shapeless'))), 404);
        const refused = await merchant.call('POST', retryPath(eventId));
        expectRefused(refused, 3_600);
        expect(Number(refused.headers['retry-after'])).toBeGreaterThan(3_600 - 60);
        await inDatabase(
          contract.stack,
          `update gateway.rate_limit_window set started_at = started_at - interval '1 hour', ends_at = ends_at - interval '1 hour'
           where scope = 'manual_retry' and subject = $1`,
          [merchant.merchantId],
        );
        expectStatuses(await repeated(RETRIES, () => merchant.call('POST', retryPath(eventId))), 409);
        expectRefused(await merchant.call('POST', retryPath(eventId)), 3_600);
      },
    );

    rule(['limits.app.window', 'auth.2'], 'no counter stores a secret or a token in plain text', async () => {
      const [secret, token] = [newSecret('qr'), newPublicToken()];
      const answers = await Promise.all([
        edge('POST', '/api/v1/merchant/rotate-key', { headers: { 'secret-key': secret } }),
        edge('GET', `/api/v1/payments/${token}`),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([401, 404]);
      const countsOf = async (...subjects: string[]) =>
        inDatabase<{ count: number }>(
          contract.stack,
          'select count from gateway.rate_limit_window where subject = any($1)',
          [subjects],
        );
      const hashed = [secret, token].map((text) => createHash('sha256').update(text).digest('hex'));
      expect(await countsOf(...hashed)).toEqual([{ count: 1 }, { count: 1 }]);
      expect(await countsOf(secret, token)).toEqual([]);
    });

    async function deliveredEvent(merchant: Merchant): Promise<string> {
      const payment = await createAndPay(contract.stack, merchant);
      const { event_id: id } = await untilRecord({ merchant, payment }, ({ status }) => status === 'delivered');
      return id;
    }
  });
}

const sharedReads = (paymentId: string): string[] => [
  '/api/v1/payments',
  '/api/v1/payments/page',
  `/api/v1/payments/${paymentId}/details`,
  `/api/v1/payments/${paymentId}/webhooks`,
  '/api/v1/merchant/limits',
  '/api/v1/merchant/webhook',
];

const retryPath = (eventId: string): string => `/api/v1/merchant/webhook/events/${eventId}/retry`;
