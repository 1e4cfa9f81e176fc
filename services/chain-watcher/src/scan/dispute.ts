import type { LocalChain } from '@quittance/chain-reader/chain/local-chain.ts';
import type { PollResult } from '@quittance/chain-reader/chain/poll.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import type { RpcProvider } from '@quittance/chain-reader/rpc/provider.ts';
import { readBlockAt, readHead } from '@quittance/chain-reader/rpc/reads.ts';
import type { ScanContext, Session } from './session.ts';

/** Clocks of validators differ by seconds. A block from further ahead is one whose time nobody else may see. */
const MAX_AHEAD_MS = 60_000;

/**
 * What only one endpoint says, and would cost much if it were wrong, has to stand where another one is asked. Without another one, or
 * while none answers, it stands.
 * @throws RpcError `invalid_answer` when another endpoint knows better.
 */
export async function requireUndisputed(
  { endpoints }: ScanContext,
  { mayAcceptFork }: Session,
  rpc: RpcProvider,
  chain: LocalChain,
  result: PollResult,
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

/** @returns null when there is nobody to ask, or nobody answers. */
async function askAnother<T>(
  endpoints: ScanContext['endpoints'],
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
 * endpoint has our tip in a chain that is at least as long: had the chain really changed, that one would soon say so as well.
 */
async function isOnDeadBranch(ask: Ask, chain: LocalChain, head: number): Promise<boolean> {
  const tip = chain.tip();
  const theirs = await ask((other) => Promise.all([readHead(other), readBlockAt(other, tip.number)]));
  return theirs !== null && theirs[1]?.hash === tip.hash && theirs[0].number >= head;
}

async function hasBlock(ask: Ask, number: number, hash: string): Promise<boolean> {
  const block = await ask((other) => readBlockAt(other, number));
  return block?.hash === hash;
}

/** "Everything before this moment is known" is said of block times, and nothing older is believed after them. */
async function hasUntrueTime(ask: Ask, { blocksToStore }: Extract<PollResult, { kind: 'blocks' }>): Promise<boolean> {
  const last = blocksToStore.at(-1);
  if (last === undefined || last.timestamp * 1000 <= Date.now() + MAX_AHEAD_MS) return false;
  const theirs = await ask(async (other) => ({ block: await readBlockAt(other, last.number) }));
  return theirs !== null && (theirs.block?.hash !== last.hash || theirs.block.timestamp !== last.timestamp);
}
