import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** What a forked process sends back for an order: the answer, or why there is none. */
type Report<A> = { answer: A } | { failure: string };

/**
 * One order at a time to a forked process, which must call `serve`.
 * @param name for people, should it end.
 */
export function orders<O extends object, A>(child: ChildProcess, name: string) {
  return {
    async ask(order: O): Promise<A> {
      const gone = new AbortController();
      const answered = once(child, 'message', { signal: gone.signal }) as Promise<[Report<A>]>;
      const exited = once(child, 'exit', { signal: gone.signal }).then(() => {
        throw new Error(`${name} ended`);
      });
      try {
        child.send(order);
        const [report] = await Promise.race([answered, exited]);
        if ('failure' in report) throw new Error(`${name}: ${report.failure}`);
        return report.answer;
      } finally {
        gone.abort();
        // The loser of the race ends with the abort, which is not awaited.
        void Promise.allSettled([answered, exited]);
      }
    },
    async close(): Promise<void> {
      if (child.exitCode !== null) return;
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}

/** The other end: carries out each order, and ends with the process that gives them. */
export function serve<O, A>(carryOut: (order: O) => Promise<A> | A): void {
  process.on('message', (order: O) => {
    void Promise.resolve(order)
      .then(carryOut)
      .then(
        (answer) => process.send?.({ answer }),
        (error: unknown) =>
          process.send?.({ failure: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
      );
  });
  process.on('disconnect', () => process.exit(0));
}
