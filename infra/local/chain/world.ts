import { setTimeout as delay } from 'node:timers/promises';
import { withClient } from '@quittance/postgres/roles/service-databases.ts';
import { stackDirectory, StackError, type StackDirectory } from '../stack/directory.ts';
import { readStackFile, type StackFile } from '../stack/stack-file.ts';

/** What a chain command works on: the running stack, and its database. */
export type World = {
  stack: StackFile;
  directory: StackDirectory;
  /** Runs as PostgreSQL's superuser. */
  query<R extends object>(sql: string, values?: unknown[]): Promise<R[]>;
  say(line: string): void;
  /** Waits. @throws StackError when the user has stopped the command, so that the command undoes what it holds. */
  pause(ms: number): Promise<void>;
  /**
   * Locks out other chain commands until this one ends, even by kill -9: from everything, or from one payment only. Commands that each
   * claim a different payment run at the same time.
   */
  claim(what: 'everything' | { payment_id: string }): Promise<void>;
};

/** First keys of PostgreSQL's two-key advisory locks, which the services do not use. */
const locks = { everything: 1, payment: 2 };
const LOCK_POLL_MS = 200;

export async function inWorld(run: (world: World) => Promise<void>): Promise<void> {
  const directory = stackDirectory();
  const stack = await readStackFile(directory);
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
  await withClient(stack.postgres_url, async (client) => {
    const query: World['query'] = async <R extends object>(sql: string, values: unknown[] = []) =>
      (await client.query<R>(sql, values)).rows;
    const pause: World['pause'] = (ms) =>
      delay(ms, undefined, { signal: stopping.signal }).catch(() => {
        throw new StackError('Stopped.');
      });
    const lock = async (kind: 'lock' | 'lock_shared', number: number, key: string): Promise<void> => {
      for (let isFirst = true; ; isFirst = false) {
        const sql = `select pg_try_advisory_${kind}($1, hashtext($2)) as done`;
        const [row] = await query<{ done: boolean }>(sql, [number, key]);
        if (row?.done === true) return;
        if (isFirst) console.log('Another chain command is running; waiting for it to end …');
        await pause(LOCK_POLL_MS);
      }
    };
    await run({
      stack,
      directory,
      query,
      say: (line) => console.log(line),
      pause,
      async claim(what) {
        if (what === 'everything') return lock('lock', locks.everything, '');
        await lock('lock_shared', locks.everything, '');
        await lock('lock', locks.payment, what.payment_id);
      },
    });
  });
}
