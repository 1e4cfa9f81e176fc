import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { processEnvironment } from '@quittance/testkit/service-process.ts';
import type { Json, Running, Verdict } from './target.ts';

/** A part of a service with what stands around it, in one process: it is put many inputs a second. */
export type Part = { put(input: Json): Promise<Verdict>; check(): Promise<string[]>; close(): Promise<void> };

type Question = { id: number; input: Json } | { id: number; check: true } | { id: number; close: true };
type Reply = { id: number; verdict?: Verdict; problems?: string[] };

/**
 * Starts a part in a process of its own.
 * @param file below parts/; it serves the part.
 */
export async function startPart(file: string, environment: Record<string, string>): Promise<Running> {
  const child = fork(join(import.meta.dirname, 'parts', file), [], {
    execArgv: [],
    env: { ...processEnvironment(), ...environment },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit');
  const waiting = new Map<number, PromiseWithResolvers<Reply>>();
  child.on('message', (reply: Reply) => waiting.get(reply.id)?.resolve(reply));
  void exited.then(() => {
    for (const { reject } of waiting.values()) reject(new Error('the process has ended'));
  });
  let next = 1;
  async function ask(question: { input: Json } | { check: true } | { close: true }): Promise<Reply> {
    const id = next++;
    const reply = Promise.withResolvers<Reply>();
    waiting.set(id, reply);
    child.send({ id, ...question });
    return reply.promise.finally(() => waiting.delete(id));
  }
  // It tells by itself that it is there.
  const ready = Promise.withResolvers<Reply>();
  waiting.set(0, ready);
  await ready.promise;
  return {
    put: async (input) => (await ask({ input })).verdict!,
    check: async () => (await ask({ check: true })).problems!,
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      await ask({ close: true }).catch(() => undefined);
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** What the process of a part runs: it answers one question after the other. */
export async function servePart(part: Part): Promise<void> {
  const send = (reply: Reply) => process.send?.(reply);
  process.on('message', (question: Question) => {
    void answer(part, question).then(send);
  });
  // Whoever started it is gone.
  process.on('disconnect', () => process.exit());
  send({ id: 0 });
}

async function answer(part: Part, question: Question): Promise<Reply> {
  const { id } = question;
  if ('input' in question) return { id, verdict: await part.put(question.input) };
  if ('check' in question) return { id, problems: await part.check() };
  await part.close();
  return { id };
}
