import type { Network } from '@quittance/contracts/networks.ts';
import { checkEndpoint, type CheckOptions, type EndpointReport } from './check.ts';
import { sumOf, type Use } from './cost.ts';
import { knownTransferOf } from './history.ts';
import { grouped } from './finding.ts';
import { readyEntry, type Target } from './target.ts';

/** One line of what an endpoint costs. */
type CostLine = { endpoint: number; role: string; calls: number; units: number | null; most: string };

export type NetworkReport = {
  network: string;
  endpoints: EndpointReport[];
  cost: CostLine[];
  /** Ready for the networks file. */
  entry: Network;
  /** Which environment variable holds what. */
  variables: Record<string, string>;
};

/** Checks every endpoint of a network, one after the other: together they would wait for each other's budget. */
export async function checkNetwork(
  target: Target,
  options: Omit<CheckOptions, 'known' | 'onProgress'> & { onProgress(endpoint: number, what: string): void },
): Promise<NetworkReport> {
  const { network } = target;
  const known = knownTransferOf(network);
  const endpoints: EndpointReport[] = [];
  for (const [position, node] of network.endpoints.entries()) {
    const onProgress = (what: string) => options.onProgress(position, what);
    endpoints.push(await checkEndpoint(network, node, position, { ...options, known, onProgress }));
  }
  const ranges = endpoints.flatMap(({ max_block_range: range }) => (range === null ? [] : [range]));
  const maxBlockRange = ranges.length === 0 ? null : Math.min(...ranges);
  return {
    network: network.id,
    endpoints,
    cost: endpoints.flatMap(costLines),
    ...readyEntry(target, maxBlockRange),
  };
}

function costLines({ endpoint, cost }: EndpointReport): CostLine[] {
  if (cost === null) return [];
  const line = (role: string, { calls, units }: Use): CostLine => {
    const [most] = Object.entries(calls).sort(([, a], [, b]) => b - a);
    const name = most === undefined ? '' : `${grouped(most[1])} ${most[0]}`;
    return { endpoint, role, calls: sumOf(calls), units, most: name };
  };
  return [line('the first', cost.first), line('the first, asleep', cost.asleep), line('the second', cost.second)];
}
