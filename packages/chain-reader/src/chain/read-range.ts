import type { Block, Log } from '../rpc/answers.ts';
import { RpcError } from '../rpc/errors.ts';
import type { RpcProvider } from '../rpc/provider.ts';
import { inBatches, readBlockAt, readBlocksAt, readLogsOfRange, unlessRefused } from '../rpc/reads.ts';
import { isRefusal, looksCutOff, provesNoTransfer, requireComplete, type CompleteBlock } from './block-events.ts';
import type { ChainNetwork } from './networks.ts';
import {
  matchTransfers,
  readLogsByHash,
  requireLinked,
  requireSuccessor,
  type BlockLogs,
  type BlockPlace,
} from './read-blocks.ts';
import { decodeTransfer, tokenEvents, transferFilter, type Transfer } from './transfers.ts';
import type { WatchSet } from './watch-set.ts';

/** The token's events in a range of blocks. */
export type RangeLogs = {
  first: Block;
  last: Block;
  /** The blocks with events of the token, ascending. Most are known only from their events. */
  entries: BlockLogs[];
  /** Whether the entries have every transfer of the token. */
  isWhole: boolean;
};

/** Nodes accept up to 1,000 topics in a filter. */
const MAX_FILTERED_WALLETS = 500;
/** If a node refuses a range of up to this many blocks, they are read one by one: a block's receipts show what a node refuses. */
const MAX_BLOCKS_BY_HASH = 8;
/** A filtered query needs another read before it, which is not worth it for fewer blocks. */
const MIN_FILTERED_BLOCKS = 16;
/** A filtered query is checked against this many blocks, evenly spread over the range and including its first and last one. */
const PROBES = 8;

/**
 * The token's events in the blocks `from` to `to`. A range is read by height, so either its blocks are final, or the caller compares the
 * blocks of the answer with those that it has.
 * @param wallets only transfers to these wallets (20-byte hex), at most 500; null for every transfer. The entries may include others.
 * @throws RpcError `range` when the range is too large, or `unsupported` when the node refuses every size. Fewer blocks always have an answer.
 *   Another kind when the node does not have one of the blocks, or its answer is incomplete.
 */
export async function readRange(
  rpc: RpcProvider,
  network: ChainNetwork,
  from: number,
  to: number,
  wallets: readonly string[] | null,
): Promise<RangeLogs> {
  const isWorthFiltering = to - from >= MIN_FILTERED_BLOCKS && network.family !== 'tron';
  const filtered = wallets !== null && isWorthFiltering ? await readFiltered(rpc, network, from, to, wallets) : null;
  if (filtered !== null) return filtered;
  try {
    return await readUnfiltered(rpc, network, from, to);
  } catch (error) {
    if (to - from >= MAX_BLOCKS_BY_HASH || !isRefusal(error)) throw error;
    return readByHash(rpc, network, from, to);
  }
}

/** The wallets that readRange() can filter by; null when there are too many of them. */
export const filterable = (watches: Pick<WatchSet, 'size' | 'addresses'>): string[] | null =>
  watches.size() <= MAX_FILTERED_WALLETS ? [...watches.addresses()] : null;

/**
 * Checks that the node has the same blocks as we do, as far as we know their hashes.
 * @param hashAt our block's hash at a height; undefined when we have none.
 * @throws RpcError `invalid_answer` when a block differs: the node follows another fork, so its whole answer is void.
 */
export function requireOurBlocks(
  { first, last, entries }: RangeLogs,
  hashAt: (number: number) => string | undefined,
): void {
  for (const { number, hash } of [first, last, ...entries.map(({ block }) => block)]) {
    const ours = hashAt(number);
    if (ours !== undefined && ours !== hash)
      throw new RpcError('invalid_answer', `the node follows another fork at block ${String(number)}`);
  }
}

/**
 * The transfers to watched wallets in a range; see matchTransfers().
 * @throws RpcError `invalid_answer` also when a block with a transfer is older than one before it: its time decides which payment the
 *   transfer pays.
 */
export async function matchRange(
  rpc: RpcProvider,
  network: ChainNetwork,
  { first, last, entries, isWhole }: RangeLogs,
  watches: Pick<WatchSet, 'has'>,
): Promise<Transfer[]> {
  const transfers = await matchTransfers(rpc, network, entries, watches, isWhole);
  const times = [first.timestamp, ...transfers.map(({ blockTimestamp }) => blockTimestamp), last.timestamp];
  if (times.some((time, position) => time < (times[position - 1] ?? 0)))
    throw new RpcError('invalid_answer', 'a block that is older than one before it');
  return transfers;
}

/** If the answer only happens to look cut off, asking again for less costs little. */
function requireWholeAnswer(logs: readonly Log[]): void {
  if (looksCutOff(logs))
    throw new RpcError('range', `${String(logs.length)} logs look like an answer that was cut off`);
}

/**
 * Every transfer of the token, in one answer. That a block has none must be proved by its header or by its events. On a busy chain nearly
 * every block has one, so this costs almost nothing.
 */
async function readUnfiltered(rpc: RpcProvider, network: ChainNetwork, from: number, to: number): Promise<RangeLogs> {
  const ends = from === to ? [from] : [from, to];
  const [[first, last], logs] = await unlessRefused(
    Promise.all(ends.map((number) => readBlockAt(rpc, number))),
    readLogsOfRange(rpc, from, to, transferFilter(network, null)),
  );
  requireWholeAnswer(logs);
  const shown = groupByBlock(logs);
  const numbers = Array.from({ length: to - from + 1 }, (_, offset) => from + offset);
  const empty = numbers.filter((number) => number !== from && number !== to && !shown.has(number));
  const headers = requirePresent(
    [first, ...(await readBlocksAt(rpc, empty)), last].filter((header) => header !== undefined),
  );
  for (const [position, header] of headers.entries()) requireInChain(header, headers[position - 1], shown);
  const entries = numbers.flatMap((number): BlockLogs[] => {
    const entry = shown.get(number);
    const own = entry === undefined ? [] : tokenEvents(network, entry.logs);
    return entry === undefined || own.length === 0 ? [] : [{ block: entry.block, logs: own }];
  });
  await requireNoHiddenTransfer(rpc, network, headers, entries);
  const [firstBlock, lastBlock] = [headers[0] as Block, headers.at(-1) as Block];
  return { first: firstBlock, last: lastBlock, entries: withHeaders(entries, headers), isWhole: true };
}

/** Every transfer of the token, block by block, each proved by itself. */
async function readByHash(rpc: RpcProvider, network: ChainNetwork, from: number, to: number): Promise<RangeLogs> {
  const numbers = Array.from({ length: to - from + 1 }, (_, offset) => from + offset);
  const blocks = requireLinked(await readBlocksAt(rpc, numbers));
  const entries = await readLogsByHash(rpc, network, blocks);
  if (entries.length < blocks.length)
    throw new RpcError('unknown_block', 'the node does not have a block of the range');
  return {
    first: blocks[0] as Block,
    last: blocks.at(-1) as Block,
    entries: entries.filter(({ logs }) => logs.length > 0),
    isWhole: true,
  };
}

function requirePresent(blocks: readonly (Block | null)[]): Block[] {
  const present = blocks.filter((block) => block !== null);
  if (present.length < blocks.length)
    throw new RpcError('unknown_block', 'the node does not have a block of the range');
  return present;
}

/** The header must match the events at its height and follow the block below, which is known by its header or its events. */
function requireInChain(header: Block, before: Block | undefined, shown: ReadonlyMap<number, BlockLogs>): void {
  const own = shown.get(header.number)?.block;
  if (own !== undefined && own.hash !== header.hash)
    throw new RpcError('invalid_answer', 'a log of a block outside the chain');
  const below = before?.number === header.number - 1 ? before : shown.get(header.number - 1)?.block;
  if (below !== undefined) requireSuccessor(header, below);
  if (before !== undefined && header.timestamp < before.timestamp)
    throw new RpcError('invalid_answer', 'a block that is older than one before it');
}

/**
 * Checks that blocks without events of the token in the answer really have none.
 * @throws RpcError `range` when the answer ends before a block that has some, because it was cut off; otherwise `invalid_answer`.
 */
async function requireNoHiddenTransfer(
  rpc: RpcProvider,
  network: ChainNetwork,
  headers: readonly Block[],
  entries: readonly BlockLogs[],
): Promise<void> {
  const shown = new Set(entries.map(({ block }) => block.number));
  const doubtful = headers.filter((header) => !shown.has(header.number) && !provesNoTransfer(network, header));
  const checked = await inBatches(doubtful, 2, (block) =>
    requireComplete(rpc, network, { block, logs: [] }, doubtful.length === 1),
  );
  const hidden = checked.find(({ logs }) => logs.length > 0)?.block.number;
  if (hidden === undefined) return;
  const lastShown = entries.at(-1)?.block.number;
  const isCutOff = lastShown !== undefined && lastShown < hidden;
  throw new RpcError(isCutOff ? 'range' : 'invalid_answer', 'the events of a block are missing from its range');
}

/**
 * Only the transfers to these wallets, in a range of any length. An empty answer alone proves nothing: a node gives the same answer when it
 * has pruned its history, or when its index has a gap. So a few blocks are read completely first. The query then includes the recipients of
 * their transfers, and its answer must contain those transfers.
 * @returns null when none of those blocks has a transfer. The token is then so quiet that reading everything costs little.
 */
async function readFiltered(
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
  const [lastNow, all] = await unlessRefused(
    readBlockAt(rpc, to),
    readLogsOfRange(rpc, from, to, transferFilter(network, asked)),
  );
  if (lastNow?.hash !== last.hash) throw new RpcError('invalid_answer', 'the chain changed while it was read');
  requireWholeAnswer(all);
  const shown = groupByBlock(tokenEvents(network, all));
  for (const { log } of samples) requireIncluded(log, shown.get(log.blockNumber)?.logs ?? []);
  const entries = [...shown.values()].sort((a, b) => a.block.number - b.block.number);
  const headers = probes.map(({ block }) => block);
  return { first, last, entries: withHeaders(entries, headers), isWhole: false };
}

function probeHeights(from: number, to: number): number[] {
  const heights = Array.from({ length: PROBES }, (_, step) => from + Math.round(((to - from) * step) / (PROBES - 1)));
  return [...new Set(heights)];
}

/** One block and every transfer of the token in it. */
async function readProbe(rpc: RpcProvider, network: ChainNetwork, number: number): Promise<CompleteBlock> {
  const [block, all] = await unlessRefused(
    readBlockAt(rpc, number),
    readLogsOfRange(rpc, number, number, transferFilter(network, null)),
  );
  if (block === null) throw new RpcError('unknown_block', 'the node does not have a block of the range');
  if (all.some((log) => log.blockHash !== block.hash))
    throw new RpcError('invalid_answer', 'a log of a block outside the chain');
  const probe = { block, logs: tokenEvents(network, all) };
  const whole = await requireComplete(rpc, network, probe, false);
  // The block has these events, but a filtered query does not return them.
  if (whole.logs.length > probe.logs.length)
    throw new RpcError('invalid_answer', 'the events of a block are missing from its range');
  return whole;
}

function requireIncluded(sample: Log, logs: readonly Log[]): void {
  const found = logs.some((log) => log.blockHash === sample.blockHash && log.logIndex === sample.logIndex);
  if (!found) throw new RpcError('invalid_answer', 'a transfer that the node has is missing from its answer');
}

/**
 * Groups events by height.
 * @throws RpcError `invalid_answer` when the events of one height belong to two blocks.
 */
export function groupByBlock(logs: readonly Log[]): Map<number, BlockLogs> {
  const blocks = new Map<number, BlockLogs>();
  for (const log of logs) {
    const block: BlockPlace = { number: log.blockNumber, hash: log.blockHash, timestamp: null };
    const entry = blocks.get(block.number) ?? { block, logs: [] };
    if (entry.block.hash !== block.hash) throw new RpcError('invalid_answer', 'logs of two blocks of one height');
    entry.logs.push(log);
    blocks.set(block.number, entry);
  }
  return blocks;
}

/** Adds the headers that were read. */
function withHeaders(entries: readonly BlockLogs[], headers: readonly Block[]): BlockLogs[] {
  const known = new Map(headers.map((header) => [header.number, header]));
  return entries.map(({ block, logs }) => ({ block: known.get(block.number) ?? block, logs }));
}
