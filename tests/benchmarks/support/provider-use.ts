import type { EndpointCounts } from './provider-counts.ts';

/** `newHeads`: the first endpoint of every network that announces blocks has a `ws_url`. */
export const situations = {
  waiting: { title: 'Payments wait all the time', payments: true, newHeads: false },
  announced: { title: 'Payments wait, and blocks are announced', payments: true, newHeads: true },
  nobody: { title: 'No payment waits', payments: false, newHeads: false },
} as const;

export type Situation = keyof typeof situations;

/** What one network took in one situation. */
export type NetworkUse = {
  id: string;
  /** Whether a transfer is read from its whole block, and a second endpoint confirms that block. */
  isProven: boolean;
  seconds: number;
  /** By endpoint. */
  endpoints: [EndpointCounts, EndpointCounts];
  /** Blocks with a transfer that a payment waits for. */
  payingBlocks: number;
  /** From such a block until the message of its transfer arrived; without those that did not arrive. */
  latenciesMs: number[];
};
export type ProviderMeasurements = { situation: Situation; uses: NetworkUse[] }[];
