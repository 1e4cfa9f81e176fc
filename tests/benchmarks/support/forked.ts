import { fork, type ForkOptions } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** What a process can be asked, by name. */
type Handlers = Record<string, (...args: never[]) => unknown>;

/** A process of its own, so that its work shows as its own CPU time. It gets one question at a time. */
export type Forked<H extends Handlers> = {
  pid: number;
  /** @throws Error when the process could not answer, or ended. */
  ask<K extends keyof H>(name: K, ...args: Parameters<H[K]>): Promise<Awaited<ReturnType<H[K]>>>;
  close(): Promise<void>;
  /** SIGKILL. Nothing happens if it has ended. */
  kill(): void;
};

type Report = { answer: unknown } | { failure: string };

/**
 * Starts a file of this folder, which must call `serve`.
 * @param name for people, in errors.
 */
export function startForked<H extends Handlers>(
  file: string,
  name: string,
  { args = [], ...options }: ForkOptions & { args?: string[] } = {},
): Forked<H> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args, { serialization: 'advanced', ...options });
  return {
    pid: child.pid ?? 0,
    async ask(handler, ...questions) {
      const gone = new AbortController();
      const answered = once(child, 'message', { signal: gone.signal }) as Promise<[Report]>;
      const exited = once(child, 'exit', { signal: gone.signal }).then(() => {
        throw new Error(`${name} ended`);
      });
      try {
        child.send({ handler, args: questions });
        const [report] = await Promise.race([answered, exited]);
        if ('failure' in report) throw new Error(`${name}: ${report.failure}`);
        return report.answer as never;
      } finally {
        gone.abort();
        // The loser of the race ends with the abort, which is not awaited.
        void Promise.allSettled([answered, exited]);
      }
    },
    kill: () => void child.kill('SIGKILL'),
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}

/** The other end: answers each question, and ends with the process that asks. @returns the handlers, for their type. */
export function serve<H extends Handlers>(handlers: H): H {
  process.on('message', ({ handler, args }: { handler: string; args: never[] }) => {
    void Promise.resolve()
      .then(() => handlers[handler]?.(...args))
      .then(
        (answer) => process.send?.({ answer }),
        (error: unknown) =>
          process.send?.({ failure: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
      );
  });
  process.on('disconnect', () => process.exit(0));
  return handlers;
}
