import type { EndpointCounts } from './provider-counts.ts';

/** How the service lives with its providers. `newHeads`: the first endpoint of every network that announces blocks has a `ws_url`. */
export const situations = {
  waiting: { title: 'Payments wait all the time', payments: true, newHeads: false },
  announced: { title: 'Payments wait, and blocks are announced', payments: true, newHeads: true },
  nobody: { title: 'Nobody waits', payments: false, newHeads: false },
} as const;

export type Situation = keyof typeof situations;

/** What one network took in one situation. */
export type NetworkUse = {
  id: string;
  seconds: number;
  /** By endpoint. */
  endpoints: [EndpointCounts, EndpointCounts];
  /** Blocks with a transfer that was waited for. */
  payingBlocks: number;
  /** From such a block's being there until the message of its transfer arrived; of those that arrived. */
  latenciesMs: number[];
};
export type ProviderMeasurements = { situation: Situation; uses: NetworkUse[] }[];
