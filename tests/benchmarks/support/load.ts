import { startForked } from './forked.ts';
import type { LoadProcess } from './load-process.ts';

/** What to load: the requests are sent in this order, again and again, across all runs. */
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
  /** How often each other status or error code came. */
  failures: Record<string, number>;
  seconds: number;
  p50_ms: number;
  p99_ms: number;
  /** CPU time of the load generator itself. */
  cpu_us: number;
};

type Run = { connections: number; durationMs: number; requests?: number };

export type LoadGenerator = {
  prepare(target: Target): Promise<void>;
  /**
   * Keeps `connections` requests under way for `durationMs`, or until `requests` of them are answered.
   * @throws Error when an answer has another status: the measurement would not be what was meant. A few 503 are left out.
   */
  run(target: string, how: Run): Promise<LoadResult>;
  close(): Promise<void>;
};

/** One process loads every contender, so that its cost is the same for all of them. */
export function startLoadGenerator(): LoadGenerator {
  const generator = startForked<LoadProcess>('load-process.ts', 'the load generator');
  return {
    prepare: (target) => generator.ask('prepare', target),
    async run(target, how) {
      const result = await generator.ask('run', target, how);
      if (Object.keys(result.failures).length > 0) {
        throw new Error(`${target} gave unexpected answers: ${JSON.stringify(result.failures)}`);
      }
      return result;
    },
    close: generator.close,
  };
}
