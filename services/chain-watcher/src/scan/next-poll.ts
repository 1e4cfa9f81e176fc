import { catchUp } from '@quittance/chain-reader/chain/catch-up.ts';
import { poll, type PollResult, type PollContext } from '@quittance/chain-reader/chain/poll.ts';
import type { BlockHead, LocalChain } from '@quittance/chain-reader/chain/local-chain.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import type { RpcProvider } from '@quittance/chain-reader/rpc/provider.ts';
import { granted, isTooMuch, refused, suggestedBlocks } from './allowance.ts';
import { afterPoll, expectedBlocks } from './cadence.ts';
import { requireUndisputed } from './dispute.ts';
import type { ScanContext, Session } from './session.ts';

/** A range that was read, or was too much to ask for: so many blocks, from this endpoint. */
type RangeRead = { asked: number; endpoint: number; result: PollResult | RpcError };

/** The range above the block of this hash, which is being read for the wallets that are watched now. */
export type NextRange = { tip: string; reading: Promise<RangeRead> };

/** A poll result that the scan has to act on. */
export type PollOutcome = Exclude<PollResult, { kind: 'needs_catch_up' }>;

/**
 * Polls the chain once, in ranges as long as we are far behind, and learns how much may be asked at once.
 * @returns null when it was too much to ask, or only showed how far behind we are: the next poll asks for something else.
 */
export async function nextPoll(context: ScanContext, session: Session, chain: LocalChain): Promise<PollOutcome | null> {
  const { catchUpTo } = session;
  // One endpoint's word: it holds as long as blocks are shown for it. Whatever this poll brings, the next one asks again.
  session.catchUpTo = null;
  if (catchUpTo !== null && catchUpTo > chain.tip().number) return catchUpOneRange(context, session, chain, catchUpTo);
  const { size: maxBlocks } = session.nearHead;
  const startedAt = performance.now();
  const expected = expectedBlocks(session.cadence, startedAt);
  const from = pollContext(context, session, chain, maxBlocks);
  const result = await askFor(context, session, from, (rpc) => {
    session.lastEndpoint = rpc.endpoint;
    return poll(rpc, from, expected);
  });
  if (result instanceof RpcError) {
    refused(session.nearHead, maxBlocks);
    return null;
  }
  if (result.kind === 'needs_catch_up') {
    session.catchUpTo = result.finalized;
    session.head = result.head;
    return null;
  }
  const found = result.kind === 'blocks' ? result.blocksToStore : [];
  granted(session.nearHead, found.length);
  // A poll that does not reach the head is followed by another one at once, which says nothing about how often blocks come.
  if (result.kind === 'no_new_blocks' || found.at(-1)?.number === result.head)
    session.cadence = afterPoll(session.cadence, startedAt, found.length);
  return result;
}

/** One range on the way to the head. While it is stored, the one after it is already being read. */
async function catchUpOneRange(
  context: ScanContext,
  session: Session,
  chain: LocalChain,
  finalized: number,
): Promise<PollOutcome | null> {
  const { asked, endpoint, result } =
    (await prefetchedRange(session, chain)) ?? (await readRangeAbove(context, session, chain, chain.tip(), finalized));
  session.lastEndpoint = endpoint;
  if (result instanceof RpcError) {
    refused(session.range, asked, suggestedBlocks(result));
    session.catchUpTo = finalized;
    return null;
  }
  granted(session.range, asked);
  if (result.kind === 'needs_catch_up') return null;
  if (result.kind !== 'blocks') return result;
  session.catchUpTo = result.finalized;
  const last = result.blocksToStore.at(-1);
  if (last !== undefined && last.number < result.finalized)
    prefetchRange(context, session, chain, last, result.finalized);
  return result;
}

function prefetchRange(
  context: ScanContext,
  session: Session,
  chain: LocalChain,
  tip: BlockHead,
  finalized: number,
): void {
  const reading = readRangeAbove(context, session, chain, tip, finalized);
  // If it fails, it is read again when its turn has come.
  reading.catch(() => undefined);
  session.nextRange = { tip: tip.hash, reading };
}

/**
 * The range above our tip, if it was read while the one before it was stored. Wallets that were taken in since then were not looked for
 * in it: they are back-filled up to the tip that we have after this poll.
 */
async function prefetchedRange(session: Session, chain: LocalChain): Promise<RangeRead | null> {
  const next = session.nextRange;
  session.nextRange = null;
  if (next === null || next.tip !== chain.tip().hash) return null;
  const range = await next.reading.catch(() => null);
  return range?.result instanceof RpcError || range?.result.kind === 'blocks' ? range : null;
}

async function readRangeAbove(
  context: ScanContext,
  session: Session,
  chain: LocalChain,
  tip: BlockHead,
  finalized: number,
): Promise<RangeRead> {
  const asked = Math.min(session.range.size, finalized - tip.number);
  const from = pollContext(context, session, chain, asked);
  let endpoint = session.lastEndpoint;
  const result = await askFor(context, session, from, (rpc) => {
    endpoint = rpc.endpoint;
    return catchUp(rpc, from, tip, finalized);
  });
  return { asked, endpoint, result };
}

function pollContext({ network }: ScanContext, session: Session, chain: LocalChain, maxBlocks: number): PollContext {
  return { network, chain, watches: session.watches, finalized: session.finalized, maxBlocks };
}

/** @returns the error instead when it was too much to ask, and less can be asked. */
async function askFor(
  context: ScanContext,
  session: Session,
  { chain, maxBlocks }: PollContext,
  read: (rpc: RpcProvider) => Promise<PollResult>,
): Promise<PollResult | RpcError> {
  try {
    return await context.endpoints.ask(async (rpc) => {
      const result = await read(rpc).catch((error: unknown) => {
        // Not even one block at a time: another endpoint may be less narrow.
        if (error instanceof RpcError && error.kind === 'range' && maxBlocks === 1)
          throw new RpcError('refused', error.message);
        throw error;
      });
      await requireUndisputed(context, session, rpc, chain, result);
      return result;
    });
  } catch (error) {
    if (isTooMuch(error) && maxBlocks > 1) return error;
    throw error;
  }
}
