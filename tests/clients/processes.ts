import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { eventually } from '@quittance/testkit/eventually.ts';
import { processEnvironment } from '@quittance/testkit/service-process.ts';
import type { Command } from './languages.ts';

/** Answers a question by the client of a language. */
export type Driver = { ask(question: object): Promise<Answer>; stop(): Promise<void> };

type Answer = {
  value?: unknown;
  /** Of a request that is not to be believed. */
  problem?: string;
  /** Of keys or a clock by which no request can be verified. */
  configuration?: string;
  error?: {
    code: string;
    status: number | null;
    retry_after: number | null;
    idempotency_key: string | null;
    message: string;
  };
};

export async function startDriver(command: Command): Promise<Driver> {
  const child = start(command, {});
  const said = outputOf(child, child.stderr);
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  return {
    async ask(question) {
      child.stdin!.write(`${JSON.stringify(question)}\n`);
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`the driver has ended: ${said()}`);
      return JSON.parse(value) as Answer;
    },
    stop: () => end(child),
  };
}

/** A shop that takes webhooks. */
export type Shop = {
  url: string;
  /** `paid <payment> <amount>`, for each time that it did the work of a payment. */
  paid(): string[];
  /** Everything that it said. */
  said(): string;
  stop(): Promise<void>;
};

export async function startShop(command: Command, env: Record<string, string>): Promise<Shop> {
  const child = start(command, { PORT: '0', ...env });
  const said = outputOf(child, child.stdout, child.stderr);
  const port = await eventually(() => {
    // PHP's own server has words of its own for it.
    const [, found] = /(?:^listening on |http:\/\/127\.0\.0\.1:)([1-9][0-9]*)/m.exec(said()) ?? [];
    if (found === undefined) throw new Error(`it does not listen: ${said()}`);
    return found;
  }).catch(async (error: unknown) => {
    await end(child);
    throw error;
  });
  return {
    url: `http://127.0.0.1:${port}/webhook`,
    paid: () => said().match(/\bpaid pay_[0-9a-f]{32} [0-9.]+/g) ?? [],
    said,
    stop: () => end(child),
  };
}

/** Runs a command to its end. @returns what it printed. */
export async function runToEnd({ words, env }: Command, more: string[], settings: Record<string, string>) {
  const [program = '', ...args] = words;
  const options = { env: { ...processEnvironment(), ...env, ...settings } };
  return (await promisify(execFile)(program, [...args, ...more], options)).stdout.trim();
}

function start({ words, env }: Command, settings: Record<string, string>): ChildProcess {
  const [program = '', ...args] = words;
  // PHP's own server has children of its own: they are one group.
  return spawn(program, args, { env: { ...processEnvironment(), ...env, ...settings }, detached: true });
}

function outputOf(child: ChildProcess, ...streams: ChildProcess['stdout'][]): () => string {
  let output = '';
  child.on('error', (error) => (output += error.message));
  for (const stream of streams) stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return () => output;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  process.kill(-child.pid, 'SIGKILL');
  await ended;
}
