import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Whom to load, and with what: the requests are sent in this order, over and over, across all runs. */
export type Target = {
  name: string;
  origin: string;
  requests: LoadRequest[];
  /** The status that every answer must have; 200 when not given. */
  status?: number;
};

export type LoadRequest = {
  path: string;
  headers: Record<string, string>;
  /** Makes it a POST. */
  body?: string;
  /**
   * Headers and body get new values each time the request is sent: a random UUID for `{key}`, 40 random hex characters for
   * `{wallet}`, and for `{number}` a number from 1 that no other request of this load generator gets.
   */
  fresh?: true;
};

export type LoadResult = {
  /** Requests answered with the target's status. */
  answered: number;
  /** How often each other status, or error code, came. */
  failures: Record<string, number>;
  seconds: number;
  p50_ms: number;
  p99_ms: number;
  /** CPU time that the load generator itself took. */
  cpu_us: number;
};

export type LoadOrder =
  | { kind: 'prepare'; target: Target }
  | { kind: 'run'; target: string; connections: number; durationMs: number; requests?: number };

type LoadReport = { kind: 'prepared' } | { kind: 'ran'; result: LoadResult };

export type LoadGenerator = {
  prepare(target: Target): Promise<void>;
  /**
   * Keeps `connections` requests under way for `durationMs`, or until `requests` of them are answered.
   * @throws Error when any answer had another status: what was measured then is not what was meant to be. A few of 503 are left out.
   */
  run(target: string, how: { connections: number; durationMs: number; requests?: number }): Promise<LoadResult>;
  close(): Promise<void>;
};

/** The same process loads every contender, so that what it costs falls on all of them alike. */
export function startLoadGenerator(): LoadGenerator {
  const child = fork(fileURLToPath(new URL('load-process.ts', import.meta.url)), { serialization: 'advanced' });
  return {
    async prepare(target) {
      await order(child, { kind: 'prepare', target });
    },
    async run(target, how) {
      const report = await order(child, { kind: 'run', target, ...how });
      if (report.kind !== 'ran') throw new Error('the load generator answered something else');
      const { result } = report;
      if (Object.keys(result.failures).length > 0) {
        throw new Error(`${target} gave other answers than it should: ${JSON.stringify(result.failures)}`);
      }
      return result;
    },
    async close() {
      if (child.exitCode !== null) return;
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}

async function order(child: ChildProcess, message: LoadOrder): Promise<LoadReport> {
  const gone = new AbortController();
  const answered = once(child, 'message', { signal: gone.signal }) as Promise<[LoadReport]>;
  const exited = once(child, 'exit', { signal: gone.signal }).then(() => {
    throw new Error('the load generator ended');
  });
  try {
    child.send(message);
    const [report] = await Promise.race([answered, exited]);
    return report;
  } finally {
    gone.abort();
    // The loser of the race ends with the abort, which is not awaited.
    void Promise.allSettled([answered, exited]);
  }
}
