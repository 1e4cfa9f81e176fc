import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { leash } from '@quittance/local-backends/child.ts';

/** A line of a service's log. */
export type LogEntry = { level: string; msg: string; port?: number };

export type ServiceProcess = {
  /** Where it listens. */
  url: string;
  /** Everything it has logged so far, unparsed. */
  log(): string;
  /** The same, parsed. */
  entries: readonly LogEntry[];
  /** SIGTERM. @returns the exit code, once it has ended. */
  stop(): Promise<number | null>;
  /** Kills it like a power cut. */
  kill(): Promise<void>;
  /** SIGSTOP: freezes it, with everything it has open, until `resume`. */
  pause(): void;
  resume(): void;
  /** Resolves when it has ended, for any reason. */
  ended: Promise<void>;
};

/** The variables that Node itself needs to start quickly. None of our settings is among them. */
export const processEnvironment = (): Record<string, string> => {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env;
  return { PATH, ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) };
};

/**
 * Starts a service as a separate process, as in production, on a port chosen by the system. With TEST_LOG_LEVEL set,
 * its log lines are shown. It doesn't outlive this process: a test whose set-up times out ends without stopping it, and
 * a process that holds the run's output would keep the run from ending.
 * @param main file URL of its main.ts.
 * @param env its settings. Of this process's environment it gets only `processEnvironment`.
 * @throws with its log when it ends before it listens.
 */
export async function startServiceProcess(main: URL, env: Record<string, string>): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [fileURLToPath(main)], {
    env: { ...processEnvironment(), HOST: '127.0.0.1', PORT: '0', PROBES_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // Emitted after 'exit', when its last log lines have been read.
  const letGo = child.pid === undefined ? () => undefined : leash(child.pid, { stopSignal: 'SIGKILL', graceMs: 0 });
  child.once('exit', letGo);
  const exit = once(child, 'close') as Promise<[code: number | null, signal: string | null]>;
  const lines: string[] = [];
  const entries: LogEntry[] = [];
  const { promise: port, resolve, reject } = Promise.withResolvers<number>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const entry = JSON.parse(line) as LogEntry;
    lines.push(line);
    entries.push(entry);
    if (process.env.TEST_LOG_LEVEL) process.stderr.write(`${line}\n`);
    if (entry.msg === 'listening' && entry.port !== undefined) resolve(entry.port);
  });
  void exit.then(() => reject(new Error(`the service ended before it listened:\n${lines.join('\n')}`)));
  return {
    url: `http://127.0.0.1:${await port}`,
    log: () => lines.join('\n'),
    entries,
    async stop() {
      child.kill('SIGTERM');
      return (await exit)[0];
    },
    async kill() {
      child.kill('SIGKILL');
      await exit;
    },
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    ended: exit.then(() => undefined),
  };
}
