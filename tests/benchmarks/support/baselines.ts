import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

/** `http`: Node's server and nothing else. `express`: one route. `express + select 1`: and one statement on a pool of ten. */
export const baselineKinds = ['http', 'express', 'express + select 1'] as const;
type BaselineKind = (typeof baselineKinds)[number];

export type BaselineOrder = {
  kind: BaselineKind;
  /** The routes, as express writes them, and what they answer. */
  answers: { route: string; body: unknown }[];
  postgresUrl: string;
};

export type Baseline = { origin: string; pid: number; close(): Promise<void> };

export async function startBaseline(order: BaselineOrder): Promise<Baseline> {
  const child = fork(fileURLToPath(new URL('baseline-process.ts', import.meta.url)));
  child.send(order);
  const [{ port }] = (await once(child, 'message')) as [AddressInfo];
  return {
    origin: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    async close() {
      if (child.exitCode !== null) return;
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}
