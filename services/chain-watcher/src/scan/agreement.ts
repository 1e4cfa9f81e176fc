import { transaction } from '@quittance/postgres/transaction.ts';
import { DeadlineExceeded, withTimeout } from '@quittance/runtime/concurrency/deadline.ts';
import {
  gatherEvidence,
  isAgreed,
  isConclusive,
  isSameTransfer,
  type Evidence,
} from '@quittance/chain-reader/chain/verify.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import { fence } from '../store/cursor.ts';
import { raiseIncident } from '../store/incidents.ts';
import { confirmTransfer, readAwaitingAgreement, type TransferRow } from '../store/transfers.ts';
import type { Transfer } from '@quittance/chain-reader/chain/transfers.ts';
import { publishTransfers, recordTransfers } from './publish.ts';
import type { ScanContext, Session } from './session.ts';

const MAX_AT_ONCE = 20;
/** How long transfers rest that could not be agreed about: an endpoint lags or is down. */
const RETRY_MS = 1_000;
/** New blocks wait meanwhile. */
const DEADLINE_MS = 2_000;
/** For so long endpoints may contradict each other before a person is called: a receipt often comes a little later than its block. */
const PATIENCE_MS = 5_000;

/**
 * Confirms the transfers that are too large for one endpoint's word: at least two must show them at the same place, final. Each is asked
 * anew, from nothing that is stored. While a second endpoint is silent or lags, they wait; when endpoints contradict each other, an
 * incident says so, and they wait as well.
 */
export async function settleLargeTransfers(context: ScanContext, session: Session): Promise<void> {
  const { network, pool, logger } = context;
  if (network.agreementAbove === null || performance.now() < session.agreementNotBefore) return;
  const offset = session.agreementOffset;
  const waiting = await readAwaitingAgreement(pool, network, session, { offset, limit: MAX_AT_ONCE });
  context.metrics.awaitingAgreement.set({ network: network.id }, offset + waiting.length);
  let left = 0;
  let endpointsHang = false;
  for (const row of waiting) {
    try {
      if (await settle(context, session, row)) continue;
    } catch (error) {
      if (!(error instanceof RpcError || error instanceof DeadlineExceeded)) throw error;
      logger.warn({ network: network.id, error: error.message }, 'a large transfer has to wait for a second endpoint');
      if (error instanceof DeadlineExceeded) endpointsHang = true;
    }
    left += 1;
    if (endpointsHang) break;
  }
  if (left > 0) session.agreementNotBefore = performance.now() + RETRY_MS;
  // Those that may wait for ever must not keep the others from being asked about.
  session.agreementOffset = waiting.length < MAX_AT_ONCE ? 0 : offset + left;
}

/** @returns whether it needs no further look. */
async function settle(context: ScanContext, session: Session, row: TransferRow): Promise<boolean> {
  const { network, endpoints, pool } = context;
  const event = { transactionId: row.transaction_id, transactionEventIndex: row.transaction_event_index };
  const asking = endpoints.askUntil(
    (rpc) => gatherEvidence(rpc, network, event),
    (answers) => isAgreed(network, answers),
  );
  const said = await withTimeout(DEADLINE_MS, asking);
  const stored = toTransfer(row);
  if (said.some((evidence) => denies(evidence, stored))) {
    const since = session.disagreements.get(event.transactionId) ?? performance.now();
    session.disagreements.set(event.transactionId, since);
    if (performance.now() - since >= PATIENCE_MS) await reportDisagreement(context, session, row, said);
    return false;
  }
  session.disagreements.delete(event.transactionId);
  if (!isAgreed(network, said)) return false;
  const confirmed = await transaction(pool, async (tx) => {
    await fence(tx, network.id, session.epoch);
    const news = await confirmTransfer(tx, network.id, row);
    if (news !== null) await publishTransfers(tx, context, [news], session.confirmingTip);
    return news;
  });
  if (confirmed !== null) recordTransfers(context, [confirmed]);
  return true;
}

/** A node that lags denies nothing. One that has the height of the transfer, and not the transfer, does. */
function denies(evidence: Evidence, stored: Transfer): boolean {
  if (evidence.kind === 'present') return !isSameTransfer(evidence.transfer, stored);
  return isConclusive(evidence) || evidence.head >= stored.blockNumber;
}

async function reportDisagreement(
  { network, pool, metrics, logger }: ScanContext,
  session: Session,
  row: TransferRow,
  said: readonly Evidence[],
): Promise<void> {
  const detail = {
    transaction_id: row.transaction_id,
    transaction_event_index: row.transaction_event_index,
    block_number: Number(row.block_number),
    answers: said.map((evidence) => (evidence.kind === 'absent' ? evidence.reason : evidence.transfer.blockHash)),
  };
  const isNew = await transaction(pool, async (tx) => {
    await fence(tx, network.id, session.epoch);
    return raiseIncident(tx, { network: network.id, kind: 'endpoints_disagree', detail });
  });
  if (!isNew) return;
  metrics.incidents.inc({ network: network.id, kind: 'endpoints_disagree' });
  logger.error({ network: network.id, ...detail }, 'endpoints disagree about a large transfer');
}

function toTransfer(row: TransferRow): Transfer {
  return {
    transactionId: row.transaction_id,
    transactionEventIndex: row.transaction_event_index,
    from: `0x${row.sender}`,
    to: `0x${row.recipient}`,
    amountUnits: BigInt(row.amount_units),
    blockNumber: Number(row.block_number),
    blockHash: `0x${row.block_hash}`,
    blockTimestamp: row.block_timestamp.getTime() / 1000,
  };
}
