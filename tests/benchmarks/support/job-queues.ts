import { Queue, Worker } from 'bullmq';
import { Logger, makeWorkerUtils, run, type Runner } from 'graphile-worker';
import pg from 'pg';
import { PgBoss } from 'pg-boss';

/** Job queues that others made: two in PostgreSQL, as our deliveries are, and one in Redis. */
export type QueueKind = 'graphile-worker' | 'pg-boss' | 'BullMQ';

/** Endpoint and key are in memory here; in a database they would be another table to read. */
export type Job = { merchant: number; eventId: string; body: string };
export type Work = (job: Job) => Promise<void>;

export type JobQueue = {
  /** Adds all of them, or none if it throws and none has arrived. */
  add(jobs: readonly Job[]): Promise<void>;
  /** Works on jobs, also on those added later, until `stop`. @returns what settles if the queue gives up by itself. */
  start(work: Work, settings: QueueSettings): Promise<{ ended: Promise<unknown> }>;
  stop(): Promise<void>;
  /** Closes the connections on which jobs are added. */
  close(): Promise<void>;
  /** Jobs that are not done and will be tried again, counted up to a limit. */
  left(most: number): Promise<number>;
};

/**
 * `fastest`: the settings of each queue's page on performance, with as many jobs at once as a dispatcher has. `documented`: the defaults
 * for everything that decides what happens to a job when something fails, and 32 jobs at once.
 */
type QueueSettings = 'fastest' | 'documented';

/** Attempts at the same time: the dispatcher's limit. */
export const IN_FLIGHT = 1_024;
const DOCUMENTED_AT_ONCE = 32;
const NAME = 'webhook';
const NEVER = new Promise<never>(() => undefined);

/**
 * Prepares the queue in an empty database.
 * @param address of PostgreSQL or of Redis.
 * @param onError is told what the queue reports about its connections and loops; none of it ends the queue.
 */
export const openJobQueue: Record<
  QueueKind,
  (address: string, onError: (error: unknown) => void) => Promise<JobQueue>
> = {
  async 'graphile-worker'(connectionString, onError) {
    const logger = new Logger(() => (level, message) => {
      if (level === 'error') onError(new Error(message));
    });
    const utils = await makeWorkerUtils({ connectionString, logger });
    await utils.migrate();
    const left = counted(connectionString, 'select 1 from graphile_worker._private_jobs', onError);
    const settings = {
      fastest: {
        ...{ concurrentJobs: IN_FLIGHT, maxPoolSize: 25, localQueue: { size: 2 * IN_FLIGHT } },
        ...{ completeJobBatchDelay: 0, failJobBatchDelay: 0 },
      },
      documented: { concurrentJobs: DOCUMENTED_AT_ONCE },
    };
    let runner: Runner | null = null;
    return {
      left,
      async add(jobs) {
        await utils.addJobs(jobs.map((payload) => ({ identifier: NAME, payload })));
      },
      async start(work, how) {
        const preset = { worker: { connectionString, logger, ...settings[how] } };
        const taskList = { [NAME]: (payload: unknown) => work(payload as Job) };
        runner = await run({ preset, taskList, noHandleSignals: true });
        return { ended: runner.promise };
      },
      stop: async () => runner?.stop(),
      close: async () => utils.release(),
    };
  },

  async 'pg-boss'(connectionString, onError) {
    const boss = new PgBoss({ connectionString, max: 25 });
    boss.on('error', onError);
    await boss.start();
    await boss.createQueue(NAME);
    const isLeft = `select 1 from pgboss.job where name = '${NAME}' and state < 'completed'`;
    /**
     * Workers times their batch are the jobs at once. Twice as many workers with half the batch took a third more of PostgreSQL's CPU
     * and were not faster. With batches of one it fell behind 200 jobs a second on two busy cores.
     */
    const settings = {
      fastest: { localConcurrency: 4, batchSize: IN_FLIGHT / 4 },
      documented: { localConcurrency: 4, batchSize: DOCUMENTED_AT_ONCE / 4 },
    };
    return {
      left: counted(connectionString, isLeft, onError),
      async add(jobs) {
        await boss.insert(
          NAME,
          jobs.map((data) => ({ data })),
        );
      },
      async start(work, how) {
        const options = { ...settings[how], burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 };
        await boss.work<Job>(NAME, options, async (jobs) => {
          await Promise.all(jobs.map(({ data }) => work(data)));
        });
        return { ended: NEVER };
      },
      stop: () => boss.offWork(NAME),
      close: () => boss.stop({ graceful: false }),
    };
  },

  async BullMQ(url, onError) {
    const { hostname: host, port } = new URL(url);
    const connection = { host, port: Number(port) };
    const queue = new Queue<Job>(NAME, { connection });
    queue.on('error', onError);
    await queue.waitUntilReady();
    let worker: Worker<Job> | null = null;
    const concurrency = { fastest: IN_FLIGHT, documented: DOCUMENTED_AT_ONCE };
    return {
      async add(jobs) {
        await queue.addBulk(jobs.map((data) => ({ name: NAME, data })));
      },
      async start(work, how) {
        const options = { connection, concurrency: concurrency[how] };
        worker = new Worker<Job>(NAME, ({ data }) => work(data), options);
        worker.on('error', onError);
        await worker.waitUntilReady();
        return { ended: NEVER };
      },
      stop: async () => worker?.close(),
      close: () => queue.close(),
      left: (most) => queue.getJobCountByTypes('wait', 'active', 'delayed').then((count) => Math.min(most, count)),
    };
  },
};

/** Counts the rows of a query. A connection that was cut is replaced by the next call. */
function counted(
  connectionString: string,
  query: string,
  onError: (error: unknown) => void,
): (most: number) => Promise<number> {
  const pool = new pg.Pool({ connectionString, max: 1, allowExitOnIdle: true });
  pool.on('error', onError);
  return async (most) => {
    const { rows } = await pool.query<{ count: number }>(
      `select count(*)::integer as count from (${query} limit $1) as rows`,
      [most],
    );
    return rows[0]?.count ?? 0;
  };
}
