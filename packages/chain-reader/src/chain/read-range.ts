import type { ChainNetwork } from './networks.ts';
import type { Block } from '../rpc/answers.ts';
import { RpcError } from '../rpc/errors.ts';
import type { RpcProvider } from '../rpc/provider.ts';
import { inBatches, readBlockAt, readBlocksAt, readLogsOfRange } from '../rpc/reads.ts';
import { requireComplete, provesNoTransfer } from './completeness.ts';
import { byBlock, requireWholeAnswer, withHeaders, type RangeLogs } from './range-logs.ts';
import { requireSuccessor, type BlockLogs } from './read-blocks.ts';
import { readFiltered } from './read-filtered.ts';
import { eventsFilter, tokenTransfers } from './token-events.ts';

export type { RangeLogs };

/** A filtered question needs an answer to another one first, which does not pay for fewer blocks. */
const WORTH_FILTERING_BLOCKS = 16;

/**
 * The token's events of the blocks `from` to `to`. A range is read by height, so either its blocks are final, or the caller
 * compares the blocks of the answer with those that it knows.
 * @param wallets only transfers to these (20-byte hex), at most 500; null for every transfer. Others may be among the entries.
 * @throws RpcError `range` when that is too much to ask; another kind when the node lacks one of the blocks, or what it says of
 *   them cannot be all.
 */
export async function readRange(
  rpc: RpcProvider,
  network: ChainNetwork,
  from: number,
  to: number,
  wallets: readonly string[] | null,
): Promise<RangeLogs> {
  const isWorthFiltering = to - from >= WORTH_FILTERING_BLOCKS && network.family !== 'tron';
  const filtered = wallets !== null && isWorthFiltering ? await readFiltered(rpc, network, from, to, wallets) : null;
  return filtered ?? readEverything(rpc, network, from, to);
}

/**
 * Every transfer of the token. The events of the blocks come in one answer; a block without any is not simply believed: its header
 * must prove it, or else its events. On a busy chain hardly any block is without, so this costs next to nothing.
 */
async function readEverything(rpc: RpcProvider, network: ChainNetwork, from: number, to: number): Promise<RangeLogs> {
  const [first, last, logs] = await Promise.all([
    readBlockAt(rpc, from),
    readBlockAt(rpc, to),
    readLogsOfRange(rpc, from, to, eventsFilter(network, null)),
  ]);
  requireWholeAnswer(logs, from, to);
  const shown = byBlock(logs);
  const numbers = Array.from({ length: to - from + 1 }, (_, offset) => from + offset);
  const silent = numbers.filter((number) => number !== from && number !== to && !shown.has(number));
  const headers = requirePresent([first, ...(await readBlocksAt(rpc, silent)), ...(to === from ? [] : [last])]);
  for (const [position, header] of headers.entries()) requireInChain(header, headers[position - 1], shown);
  const entries = numbers.flatMap((number): BlockLogs[] => {
    const entry = shown.get(number);
    const own = entry === undefined ? [] : tokenTransfers(network, entry.logs);
    return entry === undefined || own.length === 0 ? [] : [{ block: entry.block, logs: own }];
  });
  await requireSilence(rpc, network, headers, entries);
  return { first: headers[0] as Block, last: headers.at(-1) as Block, entries: withHeaders(entries, headers) };
}

function requirePresent(blocks: readonly (Block | null)[]): Block[] {
  const present = blocks.filter((block) => block !== null);
  if (present.length < blocks.length) throw new RpcError('unknown_block', 'the node lacks a block of the range');
  return present;
}

/** The header must be of the block that shows events at its height, and follow the block below, known by either. */
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
 * The blocks that show no event of the token must have none.
 * @throws RpcError `range` when the events end before a block that has some: the answer was cut off; else `invalid_answer`.
 */
async function requireSilence(
  rpc: RpcProvider,
  network: ChainNetwork,
  headers: readonly Block[],
  entries: readonly BlockLogs[],
): Promise<void> {
  const shown = new Set(entries.map(({ block }) => block.number));
  const doubtful = headers.filter((header) => !shown.has(header.number) && !provesNoTransfer(network, header));
  const checked = await inBatches(doubtful, 2, (block) => requireComplete(rpc, network, { block, logs: [] }));
  const hidden = checked.find(({ logs }) => logs.length > 0)?.block.number;
  if (hidden === undefined) return;
  const lastShown = entries.at(-1)?.block.number;
  const isCutOff = lastShown !== undefined && lastShown < hidden;
  throw new RpcError(isCutOff ? 'range' : 'invalid_answer', 'the events of a block are missing from its range');
}
