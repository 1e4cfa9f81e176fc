import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Surroundings } from './chaos-contender.ts';
import { startForked, type Forked } from './forked.ts';
import type { ChaosWorker, WorkerOrder } from './chaos-worker-process.ts';

/** A supervisor starts a dead process again after this time, as that of our services does. */
const RESTART_DELAY_MS = 200;

/**
 * Two processes that work on jobs until the end of the cell. One that dies, ends or can't start is started again.
 * @returns once both work. @returns what kills one of them.
 */
export async function startWorkers(
  order: WorkerOrder,
  { directory, onEnd }: Pick<Surroundings, 'directory' | 'onEnd'>,
): Promise<() => Promise<void>> {
  const workers = [1, 2].map((number) => keepRunning(order, join(directory, `worker-${number}.log`)));
  onEnd(async () => {
    await Promise.all(workers.map((worker) => worker.close()));
  });
  await Promise.all(workers.map((worker) => worker.working));
  return async () => workers[0]!.kill();
}

function keepRunning(order: WorkerOrder, logFile: string) {
  const { promise: working, resolve } = Promise.withResolvers<undefined>();
  const closing = new AbortController();
  let current: Forked<ChaosWorker> | null = null;
  const kept = (async () => {
    while (!closing.signal.aborted) {
      current = fork(logFile, order.kind);
      await runOnce(current, order, () => resolve(undefined));
      await current.close();
      if (!closing.signal.aborted) await delay(RESTART_DELAY_MS);
    }
  })();
  return {
    working,
    kill(): void {
      if (current !== null) process.kill(current.pid, 'SIGKILL');
    },
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
