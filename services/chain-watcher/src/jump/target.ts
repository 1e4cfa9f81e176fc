import { finalityClaim } from '@quittance/chain-reader/chain/finality.ts';
import type { BlockHead } from '@quittance/chain-reader/chain/local-chain.ts';
import type { Block } from '@quittance/chain-reader/rpc/answers.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import type { RpcProvider } from '@quittance/chain-reader/rpc/provider.ts';
import { readBlockAt, readFinalized, readHead } from '@quittance/chain-reader/rpc/reads.ts';
import type { FinalBlock } from '../leadership/cursor.sql.ts';
import type { Position } from '../leadership/term.ts';
import type { Term } from '../leadership/term.ts';

/** Where the scan can go on. */
export type Target = {
  /** Final by the network's policy. */
  block: Block;
  head: number;
  /** Whether a node has named a final block. */
  isNamed: boolean;
  /** The last block that was scanned and is in the chain for certain. */
  scanned: FinalBlock;
  /** Whether that is our tip. Otherwise what lies above it may have been reorganised away, and no node shows it any more. */
  isTip: boolean;
};

/** Nothing that asking again would change. The message is a sentence for an operator. */
export class NoTarget extends Error {
  override readonly name = 'NoTarget';
}

/**
 * Finds the block to go on at.
 * @param toBlock null for the last final one.
 * @param mustAgree whether another endpoint, where one is configured, has to show that block; otherwise only must not contradict it.
 * @throws NoTarget; RpcError when no endpoint says enough.
 */
export async function findTarget(
  term: Term,
  position: Position,
  { toBlock, mustAgree }: { toBlock: number | null; mustAgree: boolean },
): Promise<Target> {
  const { endpoints, network } = term;
  const { target, endpoint } = await endpoints.ask(async (rpc) => {
    const found = await readTarget(rpc, term, position, toBlock);
    return { target: found, endpoint: rpc.endpoint };
  });
  if (network.endpoints.length < 2) return target;
  const { number, hash } = target.block;
  const shown = await endpoints
    .askAnother(async (rpc) => ({ hash: (await readBlockAt(rpc, number))?.hash }), endpoint)
    .catch((error: unknown) => {
      if (error instanceof RpcError && !mustAgree) return null;
      throw error;
    });
  if (shown !== null && shown.hash !== hash)
    throw new RpcError(
      'invalid_answer',
      `another endpoint does not show block ${String(number)}, which one calls final`,
    );
  return target;
}

async function readTarget(
  rpc: RpcProvider,
  { network }: Term,
  { chain, heights }: Position,
  toBlock: number | null,
): Promise<Target> {
  const tip = chain.tip();
  const { largeFinal, hasNamedFinal } = heights();
  const [head, tagged, tipNow, finalNow] = await Promise.all([
    readHead(rpc),
    readFinalized(rpc),
    findBlockAt(rpc, tip.number),
    largeFinal === null ? null : findBlockAt(rpc, largeFinal.number),
  ]);
  const claim = finalityClaim(network, head.number, tagged, hasNamedFinal);
  if (claim === null) throw new RpcError('unknown_block', 'the node names no final block');
  const last = Math.min(claim.height, head.number - network.confirmations + 1);
  const number = toBlock ?? last;
  if (number > last)
    throw new NoTarget(`block ${String(number)} is not final yet: the last final block is ${String(last)}`);
  if (number <= tip.number)
    throw new NoTarget(
      `there is nothing to leave out: block ${String(tip.number)} is scanned, and ${String(last)} the last final one`,
    );
  const ours = largeFinal === null ? undefined : chain.hashAt(largeFinal.number);
  // A fork below what was final halts the network, which the scan itself finds out.
  if (finalNow !== null && ours !== undefined && finalNow.hash !== ours)
    throw new RpcError('invalid_answer', 'another block than the one that had been final');
  const block = await readBlockAt(rpc, number);
  if (block === null) throw new RpcError('unknown_block', 'the node lacks a block that it calls final');
  const scanned = scannedForCertain(tip, tipNow, largeFinal);
  return { block, head: head.number, isNamed: claim.isNamed, scanned, isTip: scanned.number === tip.number };
}

/** Old blocks, headers included, are what nodes drop first, and no list of the texts in which they say so is ever complete. */
async function findBlockAt(rpc: RpcProvider, number: number): Promise<Block | null> {
  try {
    return await readBlockAt(rpc, number);
  } catch (error) {
    if (error instanceof RpcError) return null;
    throw error;
  }
}

function scannedForCertain(tip: BlockHead, tipNow: Block | null, largeFinal: FinalBlock | null): FinalBlock {
  if (tipNow?.hash === tip.hash) return { number: tip.number, timestamp: tip.timestamp };
  if (largeFinal === null) throw new RpcError('unknown_block', 'the node does not show the last block scanned');
  return largeFinal;
}
