import type { ChainNetwork } from './networks.ts';
import type { Block, Log } from '../rpc/answers.ts';
import { RpcError } from '../rpc/errors.ts';
import type { RpcProvider } from '../rpc/provider.ts';
import { inBatches, readBlockAt, readLogsOfRange } from '../rpc/reads.ts';
import { decodeTransfer } from './transfers.ts';
import { requireComplete } from './completeness.ts';
import { byBlock, requireWholeAnswer, withHeaders, type RangeLogs } from './range-logs.ts';
import { eventsFilter, tokenTransfers } from './token-events.ts';

/** Blocks looked at closely, evenly spread over the range, its first and last one among them. */
const PROBES = 8;

type Probe = { block: Block; logs: Log[] };

/**
 * Only the transfers to these wallets, in ranges of any length. An empty answer by itself would prove nothing: a node answers
 * just that when it has pruned its history, or its index has a hole. So transfers to anybody are looked up first, in a few
 * blocks that are read completely, and then the question is put so that its answer must hold those as well.
 * @returns null when none of those blocks has a transfer: then the token is so quiet that reading everything costs little.
 */
export async function readFiltered(
  rpc: RpcProvider,
  network: ChainNetwork,
  from: number,
  to: number,
  wallets: readonly string[],
): Promise<RangeLogs | null> {
  const probes = await inBatches(probeHeights(from, to), 2, (number) => readProbe(rpc, network, number));
  const samples = probes.flatMap(({ logs }) => {
    const sample = logs.map((log) => decodeTransfer(network.token, log)).find((decoded) => decoded !== null);
    return sample === undefined ? [] : [sample];
  });
  const [first, last] = [probes[0]?.block, probes.at(-1)?.block];
  if (samples.length === 0 || first === undefined || last === undefined) return null;
  const asked = [...new Set([...wallets, ...samples.map((sample) => sample.to)])];
  const [lastNow, all] = await Promise.all([
    readBlockAt(rpc, to),
    readLogsOfRange(rpc, from, to, eventsFilter(network, asked)),
  ]);
  if (lastNow?.hash !== last.hash) throw new RpcError('invalid_answer', 'the chain changed while it was read');
  requireWholeAnswer(all, from, to);
  const shown = byBlock(tokenTransfers(network, all));
  for (const { log } of samples) requireShown(log, shown.get(log.blockNumber)?.logs ?? []);
  const entries = [...shown.values()].sort((a, b) => a.block.number - b.block.number);
  const headers = probes.map(({ block }) => block);
  return { first, last, entries: withHeaders(entries, headers) };
}

function probeHeights(from: number, to: number): number[] {
  const heights = Array.from({ length: PROBES }, (_, step) => from + Math.round(((to - from) * step) / (PROBES - 1)));
  return [...new Set(heights)];
}

/** One block and every transfer of the token in it. */
async function readProbe(rpc: RpcProvider, network: ChainNetwork, number: number): Promise<Probe> {
  const [block, all] = await Promise.all([
    readBlockAt(rpc, number),
    readLogsOfRange(rpc, number, number, eventsFilter(network, null)),
  ]);
  if (block === null) throw new RpcError('unknown_block', 'the node lacks a block of the range');
  if (all.some((log) => log.blockHash !== block.hash))
    throw new RpcError('invalid_answer', 'a log of a block outside the chain');
  const probe = { block, logs: tokenTransfers(network, all) };
  const whole = await requireComplete(rpc, network, probe);
  // The block has its events, but a question with a filter does not bring them up.
  if (whole.logs.length > probe.logs.length)
    throw new RpcError('invalid_answer', 'the events of a block are missing from its range');
  return whole;
}

function requireShown(sample: Log, logs: readonly Log[]): void {
  const found = logs.some((log) => log.blockHash === sample.blockHash && log.logIndex === sample.logIndex);
  if (!found) throw new RpcError('invalid_answer', 'a transfer that the node has is missing from its answer');
}
