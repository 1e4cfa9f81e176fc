import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '@quittance/contracts/ids.ts';
import { MerchantStatusChanged, PaymentPaid, WebhookConfigured } from '@quittance/contracts/messages.ts';
import type { DeliveryRecord } from '@quittance/contracts/webhook.ts';
import { on } from '@quittance/messaging/consumer/handler.ts';
import { testBroker } from '@quittance/testkit/broker.ts';
import { testDatabase, testPool } from '@quittance/testkit/database.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { insist } from '@quittance/testkit/insist.ts';
import { startNeighbours } from '@quittance/testkit/neighbours.ts';
import { startServiceProcess } from '@quittance/testkit/service-process.ts';
import { migrations, schema } from '../src/migrations.ts';
import { type Authority, createAuthority } from './certificates.ts';
import { startReceiver } from './receiver.ts';

export const internalToken = 'a-token-for-tests-of-the-webhook-dispatcher';

/** Only the fields that tests read; every answer has some of them. */
type ReplyBody = { key_id: string; signing_key: string; deliveries: DeliveryRecord[] };
export type Reply = { status: number; body: ReplyBody };
export type World = Awaited<ReturnType<typeof startWorld>>;
export type Merchant = { merchantId: string; host: string; url: string; keyId: string; signingKey: string };

/**
 * The dispatcher as a separate process, its neighbours on the broker, and the merchants' receivers.
 * @param options.authority of the receivers' certificates; a new one by default.
 * @param options.settings in addition to, or instead of, those set here.
 */
export async function startWorld({
  retryDelaysSeconds = '0,0',
  authority: given,
  settings = {},
}: { retryDelaysSeconds?: string; authority?: Authority; settings?: Record<string, string> } = {}) {
  const [broker, database, authority] = await Promise.all([
    testBroker(),
    testDatabase({ schema, migrations }),
    given ?? createAuthority(),
  ]);
  const received: WebhookConfigured[] = [];
  const receiveWebhook = on(WebhookConfigured, 'webhook-configured', async (message) => void received.push(message));
  const [receiver, neighbours] = await Promise.all([
    startReceiver(authority),
    startNeighbours({ amqpUrl: broker.url, consumes: { payments: [receiveWebhook] } }),
  ]);
  const directory = await mkdtemp(join(tmpdir(), 'quittance-webhooks-'));
  const caFile = join(directory, 'ca.pem');
  await writeFile(caFile, authority.certificate);
  const environment = {
    DATABASE_URL: database.url,
    AMQP_URL: broker.url,
    INTERNAL_TOKEN: internalToken,
    WEBHOOK_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    WEBHOOK_RETRY_DELAYS_SECONDS: retryDelaysSeconds,
    WEBHOOK_LOCAL_RECEIVER: `127.0.0.1:${receiver.port}`,
    NODE_EXTRA_CA_CERTS: caFile,
    ...settings,
  };
  const pool = testPool({ url: database.url, schema, max: 4 });
  const main = new URL('../src/main.ts', import.meta.url);
  const start = (overrides: Record<string, string> = {}) => startServiceProcess(main, { ...environment, ...overrides });
  let dispatcher = await start();

  async function call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const response = await fetch(`${dispatcher.url}/internal/v1${path}`, {
      method,
      headers: {
        'x-internal-token': internalToken,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as ReplyBody };
  }

  /** The same, repeated while it is answered 503: with many concurrent calls some may wait too long for the database. */
  const callUntilServed = (...request: Parameters<typeof call>): Promise<Reply> =>
    insist(() => call(...request), { intervalMs: 25 });

  return {
    pool,
    database,
    broker,
    receiver,
    call,
    callUntilServed,
    start,
    /** Starts a dispatcher after one was stopped or killed; calls go to it. */
    async restart(overrides: Record<string, string> = {}) {
      dispatcher = await start(overrides);
      return dispatcher;
    },
    dispatcher: () => dispatcher,
    metrics: async () => (await fetch(`${dispatcher.url}/metrics`)).text(),
    /** A merchant with an endpoint on its own host. */
    merchant: (): Promise<Merchant> =>
      // A new merchant each time: only the first answer has the key.
      eventually(async () => {
        const merchantId = newId('mer');
        const host = `${merchantId.slice(-12)}.merchant.io`;
        const url = `https://${host}/pay?tenant=7`;
        const { status, body } = await call('PUT', `/merchants/${merchantId}/webhook`, { url });
        if (status !== 200) throw new Error(`the PUT of an endpoint is answered ${status}`);
        return { merchantId, host, url, keyId: body.key_id, signingKey: body.signing_key };
      }),
    publish: neighbours.publish,
    /** Messages as payments receives them. */
    configured: (merchantId: string) => received.filter((message) => message.merchant_id === merchantId),
    /** Publishes that a payment was paid. */
    async pay({ merchantId }: { merchantId: string }, over: Partial<PaymentPaid> = {}): Promise<PaymentPaid> {
      const payment: PaymentPaid = {
        payment_id: newId('pay'),
        merchant_id: merchantId,
        expected_amount: '10.50',
        transaction_id: randomBytes(32).toString('hex'),
        transaction_event_index: 3,
        description: 'Two coffees, naïve "quotes" ☕',
        paid_at: new Date().toISOString(),
        ...over,
      };
      await neighbours.publish(PaymentPaid, payment);
      return payment;
    },
    setStatus: (merchantId: string, state: 'active' | 'blocked', version: number) =>
      neighbours.publish(MerchantStatusChanged, {
        merchant_id: merchantId,
        status: state,
        status_version: version,
        changed_at: new Date().toISOString(),
      }),
    /** The record of a payment's only event. @throws while there is none. */
    async delivery(payment: PaymentPaid): Promise<DeliveryRecord> {
      const path = `/merchants/${payment.merchant_id}/payments/${payment.payment_id}/deliveries`;
      const { body } = await call('GET', path);
      const [delivery] = body.deliveries;
      if (delivery === undefined || body.deliveries.length > 1) throw new Error(`${body.deliveries.length} deliveries`);
      return delivery;
    },
    /** As if the time until an event is due, or its lease expires, had passed. */
    async makeDue(eventId: string): Promise<void> {
      await pool.query(`update delivery set next_attempt_at = now() where event_id = $1`, [eventId]);
      await pool.query(
        `update lane set next_due_at = now() where merchant_id = (select merchant_id from event where event_id = $1)`,
        [eventId],
      );
    },
    async stop() {
      await dispatcher.stop();
      await Promise.all([receiver.close(), neighbours.stop(), pool.end(), rm(directory, { recursive: true })]);
      await database.drop();
      await broker.close();
    },
  };
}
