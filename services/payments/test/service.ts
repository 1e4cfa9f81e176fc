import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PaymentClosed, PaymentCreated, NoticeRaised, PaymentPaid } from '@quittance/contracts/messages.ts';
import { type HandlerContext, on } from '@quittance/messaging/consumer/handler.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { testBroker } from '@quittance/testkit/broker.ts';
import { testDatabase, testPool } from '@quittance/testkit/database.ts';
import { type FaultProxy, faultProxy } from '@quittance/testkit/fault-proxy.ts';
import { insist } from '@quittance/testkit/insist.ts';
import { type Neighbours, startNeighbours } from '@quittance/testkit/neighbours.ts';
import { type LogEntry, startServiceProcess } from '@quittance/testkit/service-process.ts';
import { migrations, schema } from '../src/migrations.ts';
import { type StubServices, startStubServices } from './stub-services.ts';

export const INTERNAL_TOKEN = 'a token that is only used by this test';

/** The body of an error: an access code with its message, or the wrong fields. */
type Refusal = { detail: { code: string; message: string } & { field: string; reason: string }[] };

export type CallInit = {
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** Asks once: a 503 is the answer. Otherwise it retries, as the contract says: the machine may be too busy for a deadline. */
  once?: boolean;
};

export type Answer<T> = { status: number; headers: Headers; text: string; json: T & Refusal };

/** The real service in its own processes, on a fresh database and broker, between stubs that the test controls. */
export type PaymentsUnderTest = {
  /**
   * Calls an internal route; with several replicas, in turn. `path` is without /internal/v1.
   * @param init headers and a signal, for a caller like the gateway, which sends its deadline and then hangs up.
   */
  call<T = object>(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    body?: unknown,
    init?: CallInit,
  ): Promise<Answer<T>>;
  /** Of the first replica. */
  url: string;
  /** SIGSTOP to every replica: it freezes until `resume`. */
  pause(): void;
  resume(): void;
  /** Status of /readyz. */
  ready(): Promise<number>;
  /** Publishes a message as another service would. */
  publish: Neighbours['publish'];
  publishAll: Neighbours['publishAll'];
  /** Everything the service published, as its consumers got it. */
  received: { created: PaymentCreated[]; closed: PaymentClosed[]; paid: PaymentPaid[]; notices: NoticeRaised[] };
  db: Pool;
  databaseUrl: string;
  /** Messages of a queue without a consumer yet, as of a few seconds ago. */
  queueSize(queue: string): Promise<number>;
  stubs: StubServices;
  /** Between the service and its backends. */
  faults: { database: FaultProxy; broker: FaultProxy };
  /** Log lines of all replicas, parsed. */
  logs(): LogEntry[];
  close(): Promise<void>;
};

export async function startPayments({
  replicas = 1,
  settings = {},
  sessionOptions,
  networks: file = networks,
  pooled,
}: {
  replicas?: number;
  settings?: Record<string, string>;
  /** PostgreSQL's options for the service's sessions, instead of its pool's. */
  sessionOptions?: string;
  /** The networks file. */
  networks?: object[];
  /** Puts a pooler in front of the database with this URL. @returns the pooler's. */
  pooled?: (url: string) => Promise<string>;
} = {}): Promise<PaymentsUnderTest> {
  const [database, broker, stubs, directory] = await Promise.all([
    testDatabase({ schema, migrations }),
    testBroker(),
    startStubServices(),
    mkdtemp(join(tmpdir(), 'payments-test-')),
  ]);
  await writeFile(join(directory, 'networks.json'), JSON.stringify(file));
  const faults = {
    database: await faultProxy({ target: database.url }),
    broker: await faultProxy({ target: broker.url }),
  };
  const environment = {
    DATABASE_URL: pooled
      ? `${await pooled(faults.database.url)}?pgbouncer=true`
      : withOptions(faults.database.url, sessionOptions),
    DATABASE_DIRECT_URL: database.url,
    AMQP_URL: faults.broker.url,
    INTERNAL_TOKEN,
    NETWORKS_FILE: join(directory, 'networks.json'),
    PUBLIC_BASE_URL: 'https://pay.example',
    QUOTA_URL: stubs.url,
    WEBHOOK_DISPATCHER_URL: stubs.url,
    CHAIN_WATCHER_URL: stubs.url,
    ...settings,
  };
  const main = new URL('../src/main.ts', import.meta.url);
  const processes = await Promise.all(Array.from({ length: replicas }, () => startServiceProcess(main, environment)));
  const db = testPool({ url: database.url, schema, max: 5 });
  const received: PaymentsUnderTest['received'] = { created: [], closed: [], paid: [], notices: [] };
  // A service refuses requests that wait too long for a connection; a test waits.
  db.options.connectionTimeoutMillis = 0;
  const neighbours = await startNeighbours({
    amqpUrl: broker.url,
    consumes: {
      'chain-watcher': [
        on(PaymentCreated, 'payment-created', collect(received.created)),
        on(PaymentClosed, 'payment-closed', collect(received.closed)),
      ],
      'webhook-dispatcher': [
        on(PaymentPaid, 'payment-paid', collect(received.paid)),
        on(NoticeRaised, 'notice-raised', collect(received.notices)),
      ],
    },
  });

  let next = 0;
  return {
    db,
    databaseUrl: database.url,
    url: processes[0]!.url,
    queueSize: async (queue) => {
      const state = await broker.manage('GET', `/api/queues/${broker.vhost}/${queue}`);
      return (state as { messages_ready?: number }).messages_ready ?? 0;
    },
    stubs,
    faults,
    logs: () => processes.flatMap(({ entries }) => entries),
    received,
    publish: neighbours.publish,
    publishAll: neighbours.publishAll,
    pause: () => processes.forEach((process) => process.pause()),
    resume: () => processes.forEach((process) => process.resume()),
    async call<T>(method: string, path: string, body?: unknown, { once, headers, ...init }: CallInit = {}) {
      const ask = async (): Promise<Answer<T>> => {
        const { url } = processes[next++ % processes.length]!;
        const response = await fetch(`${url}/internal/v1${path}`, {
          ...init,
          method,
          headers: { 'x-internal-token': INTERNAL_TOKEN, 'content-type': 'application/json', ...headers },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
        const text = await response.text();
        return { status: response.status, headers: response.headers, text, json: JSON.parse(text) as T & Refusal };
      };
      return once ? ask() : insist(ask, { intervalMs: 25 });
    },
    ready: async () => (await fetch(`${processes[0]!.url}/readyz`)).status,
    async close() {
      await Promise.all(processes.map((process) => process.stop()));
      await neighbours.stop();
      await db.end();
      await Promise.all([faults.database.close(), faults.broker.close()]);
      await Promise.all([database.drop(), broker.close(), stubs.close(), rm(directory, { recursive: true })]);
    },
  };
}

function withOptions(url: string, options: string | undefined): string {
  const address = new URL(url);
  if (options !== undefined) address.searchParams.set('options', options);
  return address.href;
}

export const network = 'local';
export const networks = [
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

/** Keeps received messages, once each: only when the inbox row is committed. */
const collect =
  <T>(list: T[]) =>
  async (message: T, { tx }: HandlerContext) =>
    tx.afterCommit(() => list.push(message));
