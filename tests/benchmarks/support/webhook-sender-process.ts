import { setTimeout as delay } from 'node:timers/promises';
import { Logger, makeWorkerUtils, run, type Runner } from 'graphile-worker';
import pg from 'pg';
import { PgBoss } from 'pg-boss';
import { newId } from '@quittance/contracts/ids.ts';
import { machineMs } from './machine-clock.ts';
import { serve, type Forked } from './forked.ts';
import { bodyOf, type WebhookMerchant } from './webhook-merchants.ts';
import { createPost } from './webhook-post.ts';

/** `raw` sends what it has in memory and keeps no record. The others keep their jobs in PostgreSQL, as we keep deliveries. */
export type SenderKind = 'raw' | 'graphile-worker' | 'pg-boss';

/** Attempts at the same time: the dispatcher's limit. */
const IN_FLIGHT = 1_024;

/** Endpoint and key are in memory here; in a database they would be another table to read. */
type Job = { merchant: number; eventId: string; body: string };
type Work = (job: Job) => Promise<void>;

type Sender = {
  add(jobs: Job[]): Promise<void>;
  send(): Promise<void>;
  /** @returns when nothing was left. */
  finish(): Promise<number>;
};

const LOOK_EVERY_MS = 5;
/** Rows for one statement of a bulk insert. */
const JOBS_AT_ONCE = 2_000;
/**
 * Workers times their batch are the jobs in flight. Twice as many workers with half the batch took a third more of PostgreSQL's
 * CPU and were not faster.
 */
const PG_BOSS = { localConcurrency: 4, batchSize: IN_FLIGHT / 4 };

let sender: Sender | null = null;
let merchants = 0;

const opened = (): Sender => {
  if (sender === null) throw new Error('nothing is open');
  return sender;
};

const handlers = serve({
  /** @param order.databaseUrl of an empty database, which `raw` does not use. */
  async open(order: {
    kind: SenderKind;
    merchants: readonly WebhookMerchant[];
    databaseUrl: string;
    receiver: { port: number; authorityFile: string };
  }) {
    const post = createPost(order.receiver);
    const work: Work = ({ merchant, eventId, body }) => post(order.merchants[merchant]!, eventId, body);
    merchants = order.merchants.length;
    sender = order.kind === 'raw' ? raw(work) : await openQueue[order.kind](order.databaseUrl, work);
  },
  /** Adds events, the merchants taking turns; nothing is sent yet. */
  async add(events: number) {
    const jobs = Array.from({ length: events }, (_, number) => job(number % merchants));
    for (let from = 0; from < jobs.length; from += JOBS_AT_ONCE)
      await opened().add(jobs.slice(from, from + JOBS_AT_ONCE));
  },
  /** Starts sending what was added. */
  send: () => opened().send(),
  /** Answers when nothing is left, also on record, with the time of that (`machineMs`). */
  finish: () => opened().finish(),
});
export type WebhookSender = Forked<typeof handlers>;

function job(merchant: number): Job {
  const eventId = newId('evt');
  return { merchant, eventId, body: bodyOf(eventId, newId('pay')) };
}

function raw(work: Work): Sender {
  const waiting: Job[] = [];
  let sent: Promise<unknown> = Promise.resolve();
  async function sendOneAfterAnother(): Promise<void> {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await work(next);
  }
  return {
    add: async (jobs) => void waiting.push(...jobs),
    async send() {
      sent = Promise.all(Array.from({ length: IN_FLIGHT }, sendOneAfterAnother));
    },
    async finish() {
      await sent;
      return machineMs();
    },
  };
}

const openQueue: Record<Exclude<SenderKind, 'raw'>, (databaseUrl: string, work: Work) => Promise<Sender>> = {
  /** The settings of its own page on performance, with as many jobs at once as the others have. */
  async 'graphile-worker'(connectionString, work) {
    const quiet = new Logger(() => () => undefined);
    const utils = await makeWorkerUtils({ connectionString, logger: quiet });
    await utils.migrate();
    let runner: Runner | null = null;
    const taskList = { webhook: (payload: unknown) => work(payload as Job) };
    const preset = {
      worker: {
        ...{ connectionString, logger: quiet, concurrentJobs: IN_FLIGHT, maxPoolSize: 25 },
        ...{ localQueue: { size: 2 * IN_FLIGHT }, completeJobBatchDelay: 0, failJobBatchDelay: 0 },
      },
    };
    return {
      async add(jobs) {
        await utils.addJobs(jobs.map((payload) => ({ identifier: 'webhook', payload })));
      },
      async send() {
        runner = await run({ preset, taskList, noHandleSignals: true });
      },
      async finish() {
        const at = await untilNothing(connectionString, 'select 1 from graphile_worker._private_jobs limit 1');
        await runner?.stop();
        return at;
      },
    };
  },

  async 'pg-boss'(connectionString, work) {
    const boss = new PgBoss({ connectionString, max: 25 });
    boss.on('error', (error) => {
      throw error;
    });
    await boss.start();
    await boss.createQueue('webhook');
    return {
      async add(jobs) {
        const rows = jobs.map((data) => ({ data }));
        await boss.insert('webhook', rows);
      },
      async send() {
        const how = { ...PG_BOSS, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 };
        await boss.work<Job>('webhook', how, async (jobs) => {
          await Promise.all(jobs.map(({ data }) => work(data)));
        });
      },
      async finish() {
        const at = await untilNothing(
          connectionString,
          `select 1 from pgboss.job where name = 'webhook' and state < 'completed' limit 1`,
        );
        await boss.offWork('webhook');
        return at;
      },
    };
  },
};

async function untilNothing(connectionString: string, query: string): Promise<number> {
  const db = new pg.Client({ connectionString });
  await db.connect();
  try {
    for (;;) {
      const { rowCount } = await db.query(query);
      if (rowCount === 0) return machineMs();
      await delay(LOOK_EVERY_MS);
    }
  } finally {
    await db.end();
  }
}
