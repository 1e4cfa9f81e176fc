import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { MessageDefinition } from '@quittance/contracts/message.ts';
import { PaymentClosed } from '@quittance/contracts/messages/payment-closed.ts';
import { PaymentCreated } from '@quittance/contracts/messages/payment-created.ts';
import { PaymentPaid } from '@quittance/contracts/messages/payment-paid.ts';
import { connectBroker } from '@quittance/messaging/broker.ts';
import { startConsumers } from '@quittance/messaging/consumer.ts';
import { on } from '@quittance/messaging/handler.ts';
import { createOutbox } from '@quittance/messaging/outbox.ts';
import { createPool, type Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { testBroker } from '@quittance/testkit/broker.ts';
import { testDatabase } from '@quittance/testkit/database.ts';
import { type FaultProxy, faultProxy } from '@quittance/testkit/fault-proxy.ts';
import { testLogger, testMetrics } from '@quittance/testkit/logger.ts';
import { migrations, schema } from '../src/migrations.ts';
import { type Peers, startPeers } from './peers.ts';

const INTERNAL_TOKEN = 'a token that is only used by this test';

/** What an error answers: an access code with its message, or the wrong fields. */
type Refusal = { detail: { code: string; message: string } & { field: string; reason: string }[] };

export type Answer<T> = { status: number; headers: Headers; text: string; json: T & Refusal };

/** The real service in processes of its own, on a fresh database and broker, between peers that the test controls. */
export type PaymentsUnderTest = {
  /** Calls an internal route; with several replicas, in turn. `path` is without /internal/v1. */
  call<T = object>(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Answer<T>>;
  /** Status of /readyz. */
  ready(): Promise<number>;
  /** Says a message as another service would. */
  say<T extends { merchant_id: string }>(message: MessageDefinition<T>, payload: T, messageId?: string): Promise<void>;
  /** Everything the service said, as the services that hear it got it. */
  heard: { created: PaymentCreated[]; closed: PaymentClosed[]; paid: PaymentPaid[] };
  db: Pool;
  databaseUrl: string;
  peers: Peers;
  /** Between the service and its backends. */
  faults: { database: FaultProxy; broker: FaultProxy };
  /** Log lines of all replicas, parsed. */
  logs: { level: string; msg: string }[];
  close(): Promise<void>;
};

export async function startPayments({
  replicas = 1,
  settings = {},
}: { replicas?: number; settings?: Record<string, string> } = {}): Promise<PaymentsUnderTest> {
  const [database, broker, peers, directory] = await Promise.all([
    testDatabase({ schema, migrations }),
    testBroker(),
    startPeers(),
    mkdtemp(join(tmpdir(), 'payments-test-')),
  ]);
  await writeFile(join(directory, 'networks.json'), JSON.stringify(networks));
  const faults = {
    database: await faultProxy({ target: database.url }),
    broker: await faultProxy({ target: broker.url }),
  };
  const logs: PaymentsUnderTest['logs'] = [];
  const environment = {
    HOST: '127.0.0.1',
    PORT: '0',
    DATABASE_URL: faults.database.url,
    AMQP_URL: faults.broker.url,
    INTERNAL_TOKEN,
    NETWORKS_FILE: join(directory, 'networks.json'),
    PUBLIC_BASE_URL: 'https://pay.example',
    QUOTA_URL: peers.url,
    WEBHOOK_DISPATCHER_URL: peers.url,
    CHAIN_WATCHER_URL: peers.url,
    ...settings,
  };
  const processes = await Promise.all(Array.from({ length: replicas }, () => startProcess(environment, logs)));
  const db = createPool({ url: database.url, schema, max: 5, logger: testLogger, applicationName: 'test' });
  const wire = listenIn(db, broker.url);

  let next = 0;
  return {
    db,
    databaseUrl: database.url,
    peers,
    faults,
    logs,
    heard: wire.heard,
    say: (message, payload, messageId) =>
      transaction(db, (tx) => wire.outbox.send(tx, message, payload, messageId === undefined ? {} : { messageId })),
    async call<T>(method: string, path: string, body?: unknown): Promise<Answer<T>> {
      const { url } = processes[next++ % processes.length]!;
      const response = await fetch(`${url}/internal/v1${path}`, {
        method,
        headers: { 'x-internal-token': INTERNAL_TOKEN, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, json: JSON.parse(text) as T & Refusal };
    },
    ready: async () => (await fetch(`${processes[0]!.url}/readyz`)).status,
    async close() {
      await Promise.all(processes.map(({ child }) => stop(child)));
      await wire.close();
      await db.end();
      await Promise.all([faults.database.close(), faults.broker.close()]);
      await Promise.all([database.drop(), broker.close(), peers.close(), rm(directory, { recursive: true })]);
    },
  };
}

export const network = 'local';
const networks = [
  {
    id: network,
    family: 'evm',
    chain_id: 31337,
    rpc_urls: ['http://127.0.0.1:1'],
    usdt_contract: '0xdAC17F958D2ee523a2206206994597C13D831ec7',
    decimals: 6,
    confirmations: 2,
    finality: 'confirmations',
    poll_interval_ms: 100,
    explorer_transaction_url: null,
  },
];

/** Takes the part of those who hear payments; their inbox rows may lie in its database, since their handlers have other names. */
function listenIn(pool: Pool, amqpUrl: string) {
  const common = { pool, logger: testLogger, metrics: testMetrics };
  const broker = connectBroker({ url: amqpUrl, name: 'test', logger: testLogger, metrics: testMetrics });
  const outbox = createOutbox({ ...common, broker });
  const heard: PaymentsUnderTest['heard'] = { created: [], closed: [], paid: [] };
  const keep =
    <T>(list: T[]) =>
    async (message: T, { tx }: { tx: { afterCommit(hook: () => void): void } }) =>
      tx.afterCommit(() => list.push(message));
  const consumers = [
    startConsumers({
      ...common,
      broker,
      service: 'chain-watcher',
      handlers: [
        on(PaymentCreated, 'payment-created', keep(heard.created)),
        on(PaymentClosed, 'payment-closed', keep(heard.closed)),
      ],
    }),
    startConsumers({
      ...common,
      broker,
      service: 'webhook-dispatcher',
      handlers: [on(PaymentPaid, 'payment-paid', keep(heard.paid))],
    }),
  ];
  return {
    heard,
    outbox,
    async close() {
      await Promise.all(consumers.map((consumer) => consumer.close()));
      await outbox.close();
      await broker.close();
    },
  };
}

async function startProcess(
  environment: Record<string, string>,
  logs: PaymentsUnderTest['logs'],
): Promise<{ url: string; child: ChildProcess }> {
  const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
  const child = spawn(process.execPath, [main], { env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
  const { promise: port, resolve, reject } = Promise.withResolvers<number>();
  child.once('exit', (code) => reject(new Error(`payments ended with ${code}: ${JSON.stringify(logs.slice(-3))}`)));
  createInterface({ input: child.stdout }).on('line', (line) => {
    const entry = JSON.parse(line) as { level: string; msg: string; port?: number };
    logs.push(entry);
    if (process.env['TEST_LOG_LEVEL']) process.stderr.write(`${line}\n`);
    if (entry.msg === 'listening' && entry.port !== undefined) resolve(entry.port);
  });
  return { url: `http://127.0.0.1:${await port}`, child };
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
}
