import type { LocalChain } from '@quittance/chain-reader/chain/local-chain.ts';
import { planAudit } from './audit.ts';
import { planRescan } from './rescan.ts';
import type { ScanContext, Session } from '../scan/session.ts';

/**
 * Stores what was read beside the scan, and begins to read the next piece: of the audit, or of a rescan when one waits. They take
 * turns, so that neither starves the other.
 * @param isAtHead whether the scan has nothing more to read right now.
 */
export async function readOnceMore(
  context: ScanContext,
  session: Session,
  chain: LocalChain,
  isAtHead: boolean,
): Promise<void> {
  const { background } = session;
  await background.settle();
  if (!background.isIdle()) return;
  const audit = () => planAudit(context, session, chain, isAtHead);
  const rescan = () => planRescan(context, session, chain);
  const [first, second] = session.isAuditsTurn ? [audit, rescan] : [rescan, audit];
  session.isAuditsTurn = !session.isAuditsTurn;
  const next = (await first()) ?? (await second());
  if (next !== null) background.start(next);
}
