import { transaction } from '@quittance/postgres/transaction.ts';
import type { LocalChain } from '@quittance/chain-reader/chain/local-chain.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import { moveAudited } from '../store/audits.ts';
import { fence } from '../store/cursor.ts';
import type { StoreReading } from './background.ts';
import { readAgain, type BlockSpan } from './read-again.ts';
import { granted, isTooMuch, refused, suggestedBlocks } from '../scan/allowance.ts';
import { storeReading } from './store-reading.ts';
import type { ScanContext, Session } from '../scan/session.ts';

/** Blocks become final a few at a time; reading them together costs less than one by one. */
const AUDIT_EVERY_MS = 2_000;
/** How long auditing rests after a node could not serve it. */
const AUDIT_RETRY_MS = 5_000;
/** Age, in chain time, at which the only endpoint is asked again: its index may have been incomplete when the block was new. */
const SAME_ENDPOINT_AFTER_SECONDS = 60;

/**
 * What to audit next: blocks that have become final are read once more, through another endpoint than the scan used.
 * @param isAtHead during a catch-up the nodes have enough to do: then it follows slowly, in large ranges.
 * @returns null when nothing is due.
 */
export async function planAudit(
  context: ScanContext,
  session: Session,
  chain: LocalChain,
  isAtHead: boolean,
): Promise<(() => Promise<StoreReading>) | null> {
  const { audited, final } = session;
  if (final === null || performance.now() < session.auditNotBefore) return null;
  session.auditNotBefore = performance.now() + AUDIT_EVERY_MS;
  if (audited === null) {
    await storeProgress(context, session, final.number);
    return null;
  }
  const end = context.network.endpoints.length > 1 ? final.number : oldEnough(chain, final.timestamp);
  const span = nextSpan(session, audited + 1, Math.min(end, final.number), chain);
  if (span === null) return null;
  const hasMore = span.to < end && isAtHead;
  return () => auditSpan(context, session, chain, span, hasMore);
}

async function auditSpan(
  context: ScanContext,
  session: Session,
  chain: LocalChain,
  span: BlockSpan,
  hasMore: boolean,
): Promise<StoreReading> {
  const { network, endpoints, logger } = context;
  const blocks = span.to - span.from + 1;
  const than = session.readers.of(span.from).endpoint;
  try {
    const reading = await readAgain(context, session, chain, span, async (read) => {
      const answer = await endpoints.askAnother(read, than);
      return answer ?? endpoints.ask(read);
    });
    return async () => {
      // A back-fill has read blocks below these meanwhile: the audit goes on there.
      if (session.audited !== span.from - 1) return;
      await storeReading(context, session, reading, true, (tx) => moveAudited(tx, network.id, span.to));
      session.audited = span.to;
      session.readers.forget(span.to);
      granted(session.auditRange, blocks);
      if (hasMore) session.auditNotBefore = 0;
    };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return () => {
      if (isTooMuch(error) && span.to > span.from) {
        refused(session.auditRange, blocks, suggestedBlocks(error));
        session.auditNotBefore = 0;
      } else {
        session.auditNotBefore = performance.now() + AUDIT_RETRY_MS;
        logger.warn({ network: network.id, from_block: span.from, error: error.message }, 'the audit has to wait');
      }
      return Promise.resolve();
    };
  }
}

/** Blocks of one reader, ended where we have a hash to hold the node to, if we have one at all. */
function nextSpan(session: Session, from: number, end: number, chain: LocalChain): BlockSpan | null {
  const to = Math.min(end, from + session.auditRange.size - 1, session.readers.of(from).through);
  if (to < from) return null;
  const known = chain.atOrBelow(to)?.number ?? -1;
  return { from, to: known >= from ? known : to };
}

/** The highest block that is so old already; −1 where none is known. */
function oldEnough(chain: LocalChain, finalTimestamp: number): number {
  return chain.before(finalTimestamp - SAME_ENDPOINT_AFTER_SECONDS)?.number ?? -1;
}

/** An audit begins at the present final block. */
async function storeProgress({ pool, network }: ScanContext, session: Session, number: number): Promise<void> {
  await transaction(pool, async (tx) => {
    await fence(tx, network.id, session.epoch);
    await moveAudited(tx, network.id, number);
  });
  session.audited = number;
}
