import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { orders } from './orders.ts';
import type { BlockPlan } from './synthetic-chain.ts';

export type NodeOrder =
  /** Makes blocks that follow those there are, the plans taking turns, and does not show them yet. With `receipts`, those lie ready too. */
  | { kind: 'make'; count: number; plans: readonly BlockPlan[]; receipts: boolean }
  /** Shows all that were made; the last `unfinal` of the chain are not final. */
  | { kind: 'show'; unfinal: number }
  /** Answers from now on take this long, half of it before the node has looked at its chain. */
  | { kind: 'latency'; ms: number }
  /** Forgets what blocks below this height hold. */
  | { kind: 'forget'; below: number };

type NodeReport = {
  /** Height of the last block shown. */
  head: number;
  /** When that was, in milliseconds since 1970 with fractions. */
  shownAt: number;
};

/** A node with a chain that grows as it is told, in a process of its own. */
export type ChainNode = {
  url: string;
  pid: number;
  order(order: NodeOrder): Promise<NodeReport>;
  /** When the head was asked for the first time since the last block was shown; null if it was not. */
  firstLook(): Promise<number | null>;
  close(): Promise<void>;
};

export type NodeState = NodeReport & { firstLookAt: number | null; port: number };

export async function startChainNode(): Promise<ChainNode> {
  const child = fork(fileURLToPath(new URL('chain-node-process.ts', import.meta.url)), {
    execArgv: ['--max-old-space-size=6144'],
  });
  const { ask, close } = orders<NodeOrder | { kind: 'state' }, NodeState>(child, 'the chain node');
  const { port } = await ask({ kind: 'state' });
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    order: ask,
    firstLook: async () => (await ask({ kind: 'state' })).firstLookAt,
    close,
  };
}
