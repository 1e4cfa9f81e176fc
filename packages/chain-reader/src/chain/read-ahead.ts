import type { ChainNetwork } from './networks.ts';
import type { Block, Log } from '../rpc/answers.ts';
import { RpcError } from '../rpc/errors.ts';
import type { RpcProvider } from '../rpc/provider.ts';
import { readBlocksAt, readFinalized, readHead, readLogsOfRange } from '../rpc/reads.ts';
import { requireWholeAnswer } from './range-logs.ts';
import { eventsFilter } from './token-events.ts';

/** The node's head, and what was asked for along with it before anybody knew which block it is. */
export type Ahead = {
  head: Block;
  /** Undefined when it was not asked for; null when the node knows no such tag. */
  finalized?: Block | null;
  /** Those that exist of the blocks between our tip and the head. */
  blocks: Block[];
  /** Events of any blocks above our tip. Nothing follows from one that is not among them. */
  logs: Log[];
};

/** More new blocks at once are not usual but the way back from a pause, which takes more round trips anyway. */
const MAX_EXPECTED_BLOCKS = 8;

/** @param expected new blocks that are likely to be there; 0 reads nothing but the head, in one small request. */
export async function readAhead(
  rpc: RpcProvider,
  network: ChainNetwork,
  tip: number,
  expected: number,
): Promise<Ahead> {
  if (expected === 0) return { head: await readHead(rpc), blocks: [], logs: [] };
  // The last of the expected blocks is the head itself.
  const between = Array.from({ length: Math.min(expected, MAX_EXPECTED_BLOCKS) - 1 }, (_, offset) => tip + 1 + offset);
  const [head, finalized, found, logs] = await Promise.all([
    readHead(rpc),
    readFinalized(rpc),
    readBlocksAt(rpc, between),
    readLogsAhead(rpc, network, tip + 1),
  ]);
  return {
    head,
    finalized,
    blocks: found.filter((block) => block !== null && block.number < head.number) as Block[],
    logs,
  };
}

/**
 * Where there is no such block yet, nodes answer an empty list or an error; neither matters. An answer that may have been cut off does:
 * the block in which it ends would be taken for whole.
 */
async function readLogsAhead(rpc: RpcProvider, network: ChainNetwork, from: number): Promise<Log[]> {
  try {
    const logs = await readLogsOfRange(rpc, from, null, eventsFilter(network, null));
    requireWholeAnswer(logs, from, Number.POSITIVE_INFINITY);
    return logs;
  } catch (error) {
    if (error instanceof RpcError) return [];
    throw error;
  }
}
