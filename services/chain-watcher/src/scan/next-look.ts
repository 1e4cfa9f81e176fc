import { lookFarBack } from '@quittance/chain-reader/chain/look-far-back.ts';
import { look, type Look, type LookFrom } from '@quittance/chain-reader/chain/look.ts';
import type { BlockHead, LocalChain } from '@quittance/chain-reader/chain/local-chain.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import type { RpcProvider } from '@quittance/chain-reader/rpc/provider.ts';
import { granted, isTooMuch, refused, suggestedBlocks } from './allowance.ts';
import { afterLook, expectedBlocks } from './cadence.ts';
import { requireUndisputed } from './dispute.ts';
import type { ScanContext, Session } from './session.ts';

/** A range that was read, or was too much to ask for: so many blocks, from this endpoint. */
type RangeLook = { asked: number; endpoint: number; seen: Look | RpcError };

/** The range above the block of this hash, which is being read for the wallets that are watched now. */
export type NextRange = { tip: string; reading: Promise<RangeLook> };

/** What a look has shown that leaves something to do. */
export type Sight = Exclude<Look, { kind: 'far_behind' }>;

/**
 * Looks at the chain once, in ranges as long as we are far behind, and learns how much may be asked at once.
 * @returns null when it was too much to ask, or only showed how far behind we are: the next look will be another one.
 */
export async function nextLook(context: ScanContext, session: Session, chain: LocalChain): Promise<Sight | null> {
  const { farBehind } = session;
  // One endpoint's word: it holds as long as blocks are shown for it. Whatever else comes of this look, the next one asks anew.
  session.farBehind = null;
  if (farBehind !== null && farBehind > chain.tip().number) return lookBack(context, session, chain, farBehind);
  const { size: maxBlocks } = session.nearHead;
  const startedAt = performance.now();
  const expected = expectedBlocks(session.cadence, startedAt);
  const from = lookFrom(context, session, chain, maxBlocks);
  const seen = await askFor(context, session, from, (rpc) => {
    session.lastEndpoint = rpc.endpoint;
    return look(rpc, from, expected);
  });
  if (seen instanceof RpcError) {
    refused(session.nearHead, maxBlocks);
    return null;
  }
  if (seen.kind === 'far_behind') {
    session.farBehind = seen.finalized;
    session.head = seen.head;
    return null;
  }
  const found = seen.kind === 'blocks' ? seen.remember : [];
  granted(session.nearHead, found.length);
  // A look that does not come up to the head is followed by another one at once, which says nothing about how often blocks come.
  if (seen.kind === 'nothing_new' || found.at(-1)?.number === seen.head)
    session.cadence = afterLook(session.cadence, startedAt, found.length);
  return seen;
}

/** One range on the way to the head. While it is stored, the one after it is already being read. */
async function lookBack(
  context: ScanContext,
  session: Session,
  chain: LocalChain,
  finalized: number,
): Promise<Sight | null> {
  const { asked, endpoint, seen } =
    (await rangeInHand(session, chain)) ?? (await readRangeAbove(context, session, chain, chain.tip(), finalized));
  session.lastEndpoint = endpoint;
  if (seen instanceof RpcError) {
    refused(session.range, asked, suggestedBlocks(seen));
    session.farBehind = finalized;
    return null;
  }
  granted(session.range, asked);
  if (seen.kind === 'far_behind') return null;
  if (seen.kind !== 'blocks') return seen;
  session.farBehind = seen.finalized;
  const last = seen.remember.at(-1);
  if (last !== undefined && last.number < seen.finalized) startNextRange(context, session, chain, last, seen.finalized);
  return seen;
}

function startNextRange(
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
 * in it: they are back-filled up to the tip that we have after this look.
 */
async function rangeInHand(session: Session, chain: LocalChain): Promise<RangeLook | null> {
  const next = session.nextRange;
  session.nextRange = null;
  if (next === null || next.tip !== chain.tip().hash) return null;
  const look = await next.reading.catch(() => null);
  return look?.seen instanceof RpcError || look?.seen.kind === 'blocks' ? look : null;
}

async function readRangeAbove(
  context: ScanContext,
  session: Session,
  chain: LocalChain,
  tip: BlockHead,
  finalized: number,
): Promise<RangeLook> {
  const asked = Math.min(session.range.size, finalized - tip.number);
  const from = lookFrom(context, session, chain, asked);
  let endpoint = session.lastEndpoint;
  const seen = await askFor(context, session, from, (rpc) => {
    endpoint = rpc.endpoint;
    return lookFarBack(rpc, from, tip, finalized);
  });
  return { asked, endpoint, seen };
}

function lookFrom({ network }: ScanContext, session: Session, chain: LocalChain, maxBlocks: number): LookFrom {
  return { network, chain, watches: session.watches, finalized: session.finalized, maxBlocks };
}

/** @returns the error instead when it was too much to ask, and less can be asked. */
async function askFor(
  context: ScanContext,
  session: Session,
  { chain, maxBlocks }: LookFrom,
  read: (rpc: RpcProvider) => Promise<Look>,
): Promise<Look | RpcError> {
  try {
    return await context.endpoints.ask(async (rpc) => {
      const seen = await read(rpc).catch((error: unknown) => {
        // Not even one block at a time: another endpoint may be less narrow.
        if (error instanceof RpcError && error.kind === 'range' && maxBlocks === 1)
          throw new RpcError('refused', error.message);
        throw error;
      });
      await requireUndisputed(context, session, rpc, chain, seen);
      return seen;
    });
  } catch (error) {
    if (isTooMuch(error) && maxBlocks > 1) return error;
    throw error;
  }
}
