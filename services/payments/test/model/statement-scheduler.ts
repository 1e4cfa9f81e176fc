import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from '@quittance/postgres/pool.ts';

/**
 * Decides whose statement the database gets next while several calls are running, so that a race is the same every time. One statement runs
 * at a time; one that waits for another call's lock is left waiting, and the others continue.
 */
export type StatementScheduler = {
  /**
   * Runs the calls, each on its own pool, until all have ended.
   * @param choices which of the calls that can continue does, statement after statement; when they are used up, the first.
   */
  run<T>(calls: readonly ((pool: Pool) => Promise<T>)[], choices: readonly number[]): Promise<RaceResult<T>>;
};

type RaceResult<T> = { results: PromiseSettledResult<T>[]; waitedForLocks: boolean };

/** How long a statement may take before the test asks whether it waits for a lock. Asking sooner or later changes nothing. */
const LOCK_CHECK_MS = 2;
/** A race that takes longer hangs; every lock and statement has a limit far below. */
const LIMIT_MS = 60_000;

type Turn = { run: () => Promise<void>; pid: number | null };
type Caller = { state: 'thinking' | 'waiting' | 'playing' | 'blocked' | 'done'; turns: Turn[]; pid: number | null };

/** @param pools as many as there are replicas; calls get one in turn. @param monitor reads who waits for a lock. */
export function createStatementScheduler(pools: readonly Pool[], monitor: Pool): StatementScheduler {
  return {
    async run(calls, choices) {
      const stage = createQueue(monitor);
      const results = Promise.allSettled(
        calls.map((call, position) => stage.enter((voice) => call(stage.wrap(pools[position % pools.length]!, voice)))),
      );
      await stage.conduct(choices);
      return { results: await results, waitedForLocks: stage.waitedForLocks() };
    },
  };
}

function createQueue(monitor: Pool) {
  const voices: Caller[] = [];
  let waited = false;
  let wake = (): void => undefined;
  let changed = new Promise<void>((resolve) => (wake = resolve));

  function setState(voice: Caller, state: Caller['state']): void {
    voice.state = state;
    wake();
    changed = new Promise((resolve) => (wake = resolve));
  }

  function updateState(voice: Caller): void {
    if (voice.state !== 'done') setState(voice, voice.turns.length > 0 ? 'waiting' : 'thinking');
  }

  /** Resolves with the result of `run`, once it was this caller's turn. */
  function runWhenScheduled<T>(voice: Caller, pid: number | null, run: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const play = () =>
        run()
          .then(resolve, reject)
          // After the code that awaits the result could ask for the next turn.
          .finally(() => setImmediate(() => updateState(voice)));
      voice.turns.push({ run: play, pid });
      if (voice.state === 'thinking') setState(voice, 'waiting');
    });
  }

  /** Marks callers that wait for a lock, and those that no longer do. */
  async function lookForLocks(): Promise<void> {
    const busy = voices.filter(({ state }) => state === 'playing' || state === 'blocked');
    const pids = busy.map(({ pid }) => pid).filter((pid) => pid !== null);
    if (pids.length === 0) return;
    const { rows } = await monitor.query<{ pid: number }>(
      'select distinct pid from pg_locks where not granted and pid = any($1)',
      [pids],
    );
    for (const voice of busy) {
      // It may have ended in the meantime.
      if (voice.state !== 'playing' && voice.state !== 'blocked') continue;
      voice.state = rows.some(({ pid }) => pid === voice.pid) ? 'blocked' : 'playing';
      waited ||= voice.state === 'blocked';
    }
  }

  /** Waits until every caller waits for its turn or for a lock, or is done. */
  async function settled(): Promise<void> {
    const deadline = Date.now() + LIMIT_MS;
    let stale = voices.some(({ state }) => state === 'blocked');
    for (;;) {
      if (stale) await lookForLocks();
      stale = true;
      const next = changed;
      if (!voices.some(({ state }) => state === 'thinking' || state === 'playing')) return;
      if (Date.now() > deadline) throw new Error(`a race hangs: ${voices.map(({ state }) => state).join(', ')}`);
      await Promise.race([next, sleep(LOCK_CHECK_MS)]);
    }
  }

  return {
    waitedForLocks: () => waited,
    async enter<T>(call: (voice: Caller) => Promise<T>): Promise<T> {
      const voice: Caller = { state: 'thinking', turns: [], pid: null };
      voices.push(voice);
      try {
        return await call(voice);
      } finally {
        setState(voice, 'done');
      }
    },
    async conduct(choices: readonly number[]): Promise<void> {
      for (let choice = 0; ; choice += 1) {
        await settled();
        const ready = voices.filter(({ state }) => state === 'waiting');
        if (ready.length === 0) {
          if (voices.every(({ state }) => state === 'done')) return;
          await Promise.race([changed, sleep(LOCK_CHECK_MS)]);
          continue;
        }
        const voice = ready[(choices[choice] ?? 0) % ready.length]!;
        const turn = voice.turns.shift()!;
        voice.pid = turn.pid;
        voice.state = 'playing';
        void turn.run();
      }
    },
    /** A pool whose every statement waits for its turn. */
    wrap(pool: Pool, voice: Caller): Pool {
      const connect = async (): Promise<Client> => {
        const client = await runWhenScheduled(voice, null, () => pool.connect() as Promise<Client>);
        const query: Client['query'] = (...words) =>
          runWhenScheduled(voice, client.processID ?? null, () => client.query(...words));
        return new Proxy(client, {
          get(target, property) {
            if (property === 'query') return query;
            const value: unknown = Reflect.get(target, property);
            return typeof value === 'function' ? (value.bind(target) as unknown) : value;
          },
        });
      };
      const single: Client['query'] = async (...words) => {
        const client = await connect();
        try {
          const result = await client.query(...words);
          client.release();
          return result;
        } catch (error) {
          client.release(true);
          throw error;
        }
      };
      return { connect, query: single } as unknown as Pool;
    },
  };
}

/** The part of a connection that our code uses, and the server process behind it, which pg's types leave out. */
type Client = {
  query(...words: unknown[]): Promise<unknown>;
  release(destroy?: boolean): void;
  processID?: number | null;
};
