import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { withTimeout } from '@quittance/runtime/concurrency/deadline.ts';
import type { Surroundings, System } from './chaos-contender.ts';
import { startForked, type Forked } from './forked.ts';
import type { ChaosWorker, WorkerOrder } from './chaos-worker-process.ts';

/** A supervisor starts a dead process again after this time, as that of our services does. */
const RESTART_DELAY_MS = 200;
const STARTED_WITHIN_MS = 60_000;

/**
 * Two processes that work on jobs until the end of the cell. One that dies, ends or can't start is started again.
 * @returns once both work. @returns what kills one of them, by its number from 0 on.
 */
export async function startWorkers(
  order: WorkerOrder,
  { directory, onEnd }: Pick<Surroundings, 'directory' | 'onEnd'>,
): Promise<System['killWorker']> {
  const workers = [1, 2].map((number) => keepRunning(order, join(directory, `worker-${number}.log`)));
  onEnd(async () => {
    await Promise.all(workers.map((worker) => worker.close()));
  });
  await withTimeout(STARTED_WITHIN_MS, Promise.all(workers.map((worker) => worker.working)), 'starting the workers');
  return async (nth) => workers[nth % workers.length]?.kill();
}

function keepRunning(order: WorkerOrder, logFile: string) {
  const { promise: working, resolve } = Promise.withResolvers<undefined>();
  const closing = new AbortController();
  let current: Forked<ChaosWorker> | null = null;
  const kept = (async () => {
    for (;;) {
      current = fork(logFile, order.kind);
      await runOnce(current, order, () => resolve(undefined));
      await current.close();
      await delay(RESTART_DELAY_MS);
      if (closing.signal.aborted) return;
    }
  })();
  return {
    working,
    kill: () => current?.kill(),
    async close(): Promise<void> {
      closing.abort();
      await current?.close();
      await kept;
    },
  };
}

function fork(logFile: string, kind: string): Forked<ChaosWorker> {
  const log = openSync(logFile, 'a', 0o600);
  try {
    const env = { ...process.env, NODE_ENV: 'production' };
    return startForked<ChaosWorker>('chaos-worker-process.ts', kind, { env, stdio: ['ignore', log, log, 'ipc'] });
  } finally {
    closeSync(log);
  }
}

/** @returns when the process has ended, or gave up. */
async function runOnce(worker: Forked<ChaosWorker>, order: WorkerOrder, onWorking: () => void): Promise<void> {
  try {
    await worker.ask('work', order);
    onWorking();
    await worker.ask('untilEnded');
  } catch {
    // It was killed, or could not start because its store is away. Its log says why.
  }
}
