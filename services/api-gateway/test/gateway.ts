import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { createServiceClient } from '@quittance/http/client/client.ts';
import { listen } from '@quittance/http/server/listen.ts';
import { connectBroker } from '@quittance/messaging/broker/broker.ts';
import { createLegacyRecord } from '@quittance/messaging/legacy-use.ts';
import { createOutbox } from '@quittance/messaging/outbox/outbox.ts';
import { createPool, ping, type Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { createLifecycle } from '@quittance/runtime/lifecycle.ts';
import { createLogger } from '@quittance/runtime/logger.ts';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { testDatabase } from '@quittance/testkit/database.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { createGatewayApp } from '../src/app.ts';
import { migrations, schema } from '../src/migrations.ts';
import { networks } from '@quittance/testkit/sample-networks.ts';
import { sharedTrust } from '@quittance/testkit/trust.ts';
import { createCallerHeaders } from '@quittance/http/call-token.ts';
import { standIn, type StandIn } from './stand-in.ts';

export type Response = {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  json: () => Record<string, unknown>;
};
export type Call = { headers?: Record<string, string | string[]>; body?: string | Buffer | object };
export type Replica = { url: string; call: (method: string, path: string, options?: Call) => Promise<Response> };
export type Merchant = { merchant_id: string; api_key: string; rotation_secret: string };

export type TestGateway = Replica & {
  /** The database of all replicas. */
  pool: Pool;
  databaseUrl: string;
  payments: StandIn;
  webhooks: StandIn;
  /** The log so far, of every replica. */
  logs: () => string;
  /** Another process, as far as the database can tell: its own pool and server. */
  replica: (databaseUrl?: string) => Promise<Replica>;
  /** Registers a merchant with the operators' API. */
  merchant: () => Promise<Merchant>;
  close: () => Promise<void>;
};

/** The defaults. */
const optionRules = { expiresIn: { min: 300, max: 86_400 }, localReturnUrls: false };

export const INTERNAL_TOKEN = 'internal-token-of-the-tests-0123456789';
export const gatewayTrust = sharedTrust(INTERNAL_TOKEN);
const note = { actor: 'tests', reason: 'a merchant to test with' };

/** The whole gateway on a fresh database, with substitutes for payments and webhook-dispatcher, and without a broker. */
export async function testGateway({ passkeysFor = [] }: { passkeysFor?: string[] } = {}): Promise<TestGateway> {
  const database = await testDatabase({ schema, migrations });
  const [payments, webhooks] = await Promise.all([standIn(), standIn()]);
  const lines: string[] = [];
  const logger = createLogger({ service: 'api-gateway', level: 'trace' }, { write: (line) => void lines.push(line) });
  const { lifecycle } = createLifecycle({ logger });

  const start = async (databaseUrl: string): Promise<Replica & { pool: Pool }> => {
    const metrics = createMetrics({ service: 'api-gateway', processMetrics: false });
    const pool = createPool({
      url: databaseUrl,
      schema,
      max: 10,
      logger,
      applicationName: 'gateway',
      metrics,
    });
    lifecycle.onStop('pool', () => pool.end());
    // Nothing listens there, so the gateway runs without a broker.
    const broker = connectBroker({ url: 'amqp://127.0.0.1:1', name: 'api-gateway', logger, metrics });
    lifecycle.onStop('broker', () => broker.close());
    const outbox = createOutbox({ pool, broker, signer: null, logger, metrics });
    lifecycle.onStop('outbox', () => outbox.close());
    const client = (name: string, baseUrl: string) =>
      createServiceClient({
        name,
        baseUrl,
        showCaller: createCallerHeaders('api-gateway', gatewayTrust),
        logger,
        metrics,
      });
    const upstreams = {
      payments: client('payments', payments.url),
      acceptance: client('payments accept', payments.url),
      reports: client('payments reports', payments.url),
      webhooks: client('webhooks', webhooks.url),
      webhookTests: client('webhooks tests', webhooks.url),
    };
    lifecycle.onStop('clients', () => Object.values(upstreams).forEach((owner) => owner.close()));
    const app = createGatewayApp({
      db: pool,
      transact: (run) => transaction(pool, run, { lockTimeoutMs: 1_000 }),
      ready: () => ping(pool),
      outbox,
      upstreams,
      networks,
      optionRules,
      passkeysFor,
      trust: gatewayTrust,
      legacy: createLegacyRecord({ pool, trust: gatewayTrust, logger, metrics }),
      logger,
      metrics,
    });
    const { port } = await listen(app, { host: '127.0.0.1', port: 0, lifecycle, logger });
    const url = `http://127.0.0.1:${port}`;
    return { url, pool, call: (method, path, options) => call(url, method, path, options) };
  };

  const first = await start(database.url);
  return {
    ...first,
    databaseUrl: database.url,
    payments,
    webhooks,
    logs: () => lines.join(''),
    replica: (databaseUrl = database.url) => start(databaseUrl),
    // A slow machine may not commit before the deadline; an extra merchant does not matter to any test.
    merchant: () =>
      eventually(async () => {
        const body = { name: 'Shop', access_type: 'legacy', total_limit: 1000, ...note };
        const answer = await first.call('POST', '/internal/v1/merchants', { headers: internal, body });
        if (answer.status !== 201) throw new Error(`registering answered ${answer.status}: ${answer.text}`);
        return answer.json() as Merchant;
      }),
    close: async () => {
      await lifecycle.stop('the tests are over');
      await Promise.all([payments.close(), webhooks.close(), database.drop()]);
    },
  };
}

/** The headers of an operator's request. */
export const internal = { 'X-Internal-Token': INTERNAL_TOKEN };

/** Moves every window of this scope into the past, so that it has ended. */
export async function endWindows(pool: Pool, scope: string): Promise<void> {
  await pool.query(
    `update rate_limit_window set started_at = started_at - interval '2 hours', ends_at = ends_at - interval '2 hours'
     where scope = $1`,
    [scope],
  );
}

/** One plain HTTP request: unlike fetch it can send a header twice, follows no redirect and adds no header. */
function call(base: string, method: string, path: string, { headers = {}, body }: Call = {}): Promise<Response> {
  const isRaw = body === undefined || typeof body === 'string' || Buffer.isBuffer(body);
  const bytes = isRaw ? body : JSON.stringify(body);
  const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
  const length =
    body === undefined || headers['Transfer-Encoding']
      ? {}
      : { 'Content-Length': String(Buffer.byteLength(bytes ?? '')) };
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      `${base}${path}`,
      { method, headers: { ...type, ...length, ...headers } },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const status = incoming.statusCode ?? 0;
          resolve({ status, headers: incoming.headers, text, json: () => JSON.parse(text) as Record<string, unknown> });
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(bytes);
  });
}
