import type { Network } from '@quittance/contracts/networks.ts';
import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import type { RpcNode } from '@quittance/chain-reader/rpc/network.ts';
import { checkAnnouncements, checkBatch, checkChain, checkHead } from './basics.ts';
import { checkPlan, measureCost, sumOf, type Cost, type Use } from './cost.ts';
import { checkBlockEvents, checkRanges } from './events.ts';
import { duration, finding, grouped, type Finding } from './finding.ts';
import { checkHistory, checkKnownTransfer, knownTransferOf, type KnownTransfer } from './history.ts';
import { checkCompany, checkProof } from './proof.ts';
import { openProbe, type Probe } from './probe.ts';
import { readyEntry, type Target } from './target.ts';

/** What an endpoint is worth to the watcher. */
export type EndpointReport = {
  /** Position in the networks file, from 0. */
  endpoint: number;
  /** Whether nothing that the watcher needs has failed. */
  usable: boolean;
  findings: Finding[];
  /** Calls a day; null when it could not be measured. */
  cost: Cost | null;
  /** The most blocks that it answers at once, where that is less than the entry asks for; else null. */
  max_block_range: number | null;
};

type CheckOptions = {
  known: KnownTransfer | null;
  /** Deadline of one request. */
  timeoutMs: number;
  /** Called with each question before it is asked. */
  onProgress(what: string): void;
};

/**
 * Asks an endpoint everything that the watcher will ask of it, with the watcher's own code, so that what is found here is what it would
 * find. Nothing is stored, and no running service is needed.
 */
export async function checkEndpoint(
  network: ChainNetwork,
  node: RpcNode,
  position: number,
  options: CheckOptions,
): Promise<EndpointReport> {
  const probe = openProbe(network, node, position, options.timeoutMs);
  try {
    return await examine(probe, node, position, options);
  } finally {
    probe.close();
  }
}

async function examine(
  probe: Probe,
  node: RpcNode,
  position: number,
  { known, onProgress }: CheckOptions,
): Promise<EndpointReport> {
  const findings: Finding[] = [];
  let cost: Cost | null = null;
  let maxBlockRange: number | null = null;
  /** What breaks off is a finding too, and the next question may still be answered. */
  const ask = async <T>(what: string, read: () => Promise<T>): Promise<T | null> => {
    onProgress(what);
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      findings.push(finding(what, 'failed', error.message, 'it broke off: try again'));
      return null;
    }
  };

  const chain = await ask('chain id', () => checkChain(probe));
  if (chain !== null) findings.push(chain);
  const newest = chain?.verdict === 'ok' ? await ask('head', () => checkHead(probe)) : null;
  if (newest !== null) {
    const { tip } = newest;
    findings.push(...newest.findings);
    findings.push(...listed(await ask('batches', () => checkBatch(probe, tip))));
    findings.push(...((await ask('events', () => checkBlockEvents(probe, tip))) ?? []));
    const ranges = await ask('ranges', () => checkRanges(probe, tip));
    findings.push(...(ranges?.findings ?? []));
    maxBlockRange = ranges?.maxBlockRange ?? null;
    if (probe.network.family === 'evm')
      findings.push(...listed(await ask('block proof', () => checkProof(probe, tip))));
    findings.push(...listed(await ask('history', () => checkHistory(probe, tip))));
    findings.push(...listed(await ask('a known transfer', () => checkKnownTransfer(probe, known))));
    onProgress('WebSocket');
    findings.push(await checkAnnouncements(probe.network.id, node, tip.blockSeconds));
    const provedBlocks = ranges?.provedBlocks ?? 0;
    if (provedBlocks > 0) cost = await ask('cost', () => measureCost(probe, tip, provedBlocks));
    findings.push(latencyFinding(probe), ...refusalsFinding(probe), ...checkCompany(probe));
    if (cost !== null) findings.push(...checkPlan(probe, cost, position));
  }
  const usable = findings.every(({ verdict }) => verdict !== 'failed');
  return { endpoint: position, usable, findings, cost, max_block_range: maxBlockRange };
}

const listed = (found: Finding | null): Finding[] => (found === null ? [] : [found]);

const SLOW_SECONDS = 1;

function latencyFinding({ exchanges }: Probe): Finding {
  const seconds = exchanges.filter(({ outcome }) => outcome === 'ok').map((exchange) => exchange.seconds);
  seconds.sort((a, b) => a - b);
  const at = (share: number) => seconds[Math.floor((seconds.length - 1) * share)] ?? 0;
  const found = `half of ${seconds.length} requests within ${duration(at(0.5))}, nearly all within ${duration(at(0.95))}`;
  const isSlow = at(0.5) > SLOW_SECONDS;
  return finding('latency', isSlow ? 'warning' : 'ok', found, isSlow ? 'every look takes that long' : null);
}

function refusalsFinding({ exchanges }: Probe): Finding[] {
  const refused = exchanges.filter(({ outcome }) => outcome === 'rate_limit').length;
  if (refused === 0) return [];
  const meaning = "say the plan's requests_per_second: until then its refusals slow the watcher down";
  return [finding('rate', 'warning', `${refused} requests were refused for being too many`, meaning)];
}

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
