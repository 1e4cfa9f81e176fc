import type { PollResult } from '@quittance/chain-reader/chain/poll.ts';
import type { Endpoints } from '@quittance/chain-reader/rpc/endpoints.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import type { RpcProvider } from '@quittance/chain-reader/rpc/provider.ts';
import { readBlockAt, readHead } from '@quittance/chain-reader/rpc/reads.ts';
import type { ChainView } from '../../term/position.ts';

/** Clocks of validators differ by seconds. A block from further ahead has a time that no other node may see. */
const MAX_AHEAD_MS = 60_000;

/**
 * Checks with a second endpoint an answer of one endpoint that would cost much if it were wrong. Without a second endpoint, or
 * while none answers, it is accepted.
 * @throws RpcError `invalid_answer` when another endpoint knows better.
 */
export async function crossCheckPoll(
  endpoints: Endpoints,
  rpc: RpcProvider,
  chain: ChainView,
  result: PollResult,
  mayAcceptFork: boolean,
): Promise<void> {
  const ask = <T>(read: (other: RpcProvider) => Promise<T>) => askAnother(endpoints, rpc, read);
  if (result.kind === 'blocks' && (await hasUntrueTime(ask, result)))
    throw new RpcError('invalid_answer', 'a block from the future that another node does not have');
  if (result.kind !== 'fork') return;
  const { fork, head } = result;
  if (fork.kind === 'reorg' && (await isOnDeadBranch(ask, chain, head)))
    throw new RpcError('invalid_answer', 'a branch that is no longer than the one which another node has');
  // An operator who has accepted the fork knows that some endpoints do not follow it yet.
  if (fork.kind === 'below_finalized' && !mayAcceptFork && (await hasBlock(ask, fork.number, fork.ours)))
    throw new RpcError('invalid_answer', 'a fork below what is final, of which another node knows nothing');
}

type Ask = <T>(read: (other: RpcProvider) => Promise<T>) => Promise<T | null>;

/** @returns null when no other endpoint is configured, or none answers. */
async function askAnother<T>(
  endpoints: Endpoints,
  { endpoint }: RpcProvider,
  read: (other: RpcProvider) => Promise<T>,
): Promise<T | null> {
  try {
    return await endpoints.askAnother(read, endpoint);
  } catch (error) {
    if (error instanceof RpcError) return null;
    throw error;
  }
}

/**
 * A node that is stuck on a dead branch looks just as if the chain had been reorganised. So a branch is not followed while another
 * endpoint has our tip in a chain that is at least as long: had the chain really changed, that one would soon have another tip as well.
 */
async function isOnDeadBranch(ask: Ask, chain: ChainView, head: number): Promise<boolean> {
  const tip = chain.tip();
  const theirs = await ask((other) => Promise.all([readHead(other), readBlockAt(other, tip.number)]));
  return theirs !== null && theirs[1]?.hash === tip.hash && theirs[0].number >= head;
}

async function hasBlock(ask: Ask, number: number, hash: string): Promise<boolean> {
  const block = await ask((other) => readBlockAt(other, number));
  return block?.hash === hash;
}

/** "Scanned through" is a block time, so one from the future would cover blocks that are not read yet. */
async function hasUntrueTime(ask: Ask, { blocksToStore }: Extract<PollResult, { kind: 'blocks' }>): Promise<boolean> {
  const last = blocksToStore.at(-1);
  if (last === undefined || last.timestamp * 1000 <= Date.now() + MAX_AHEAD_MS) return false;
  const theirs = await ask(async (other) => ({ block: await readBlockAt(other, last.number) }));
  return theirs !== null && (theirs.block?.hash !== last.hash || theirs.block.timestamp !== last.timestamp);
}
