import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { orders } from './orders.ts';
import type { EndpointCounts } from './provider-counts.ts';

/** `count`: from zero, from now on. */
export type ProvidersOrder = { kind: 'state' } | { kind: 'count' };

export type ProvidersState = {
  port: number;
  /** By network and endpoint, such as `tron/0`. */
  counts: Record<string, EndpointCounts>;
  /** Of each network: its present head, and when its block 0 came, in milliseconds since 1970. */
  chains: Record<string, { head: number; bornAt: number }>;
};

export type Providers = {
  /** Host and port. */
  origin: string;
  order(order: ProvidersOrder): Promise<ProvidersState>;
  close(): Promise<void>;
};

/**
 * Two endpoints of each network, as providers have them, in a process of their own.
 * @param historyShare as in providerNetworks().
 */
export async function startProviders(historyShare: number): Promise<Providers> {
  const child = fork(fileURLToPath(new URL('provider-nodes-process.ts', import.meta.url)), [String(historyShare)]);
  const { ask, close } = orders<ProvidersOrder, ProvidersState>(child, 'the providers');
  const { port } = await ask({ kind: 'state' });
  return { origin: `127.0.0.1:${port}`, order: ask, close };
}
