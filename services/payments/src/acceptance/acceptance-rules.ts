import type { Finding } from '@quittance/contracts/http/chain-watcher/transfers.ts';
import { tokenUnitsOf, knownFrom, slotSearchOf } from '../settlement/decision.ts';
import type { ChainProof } from './acceptance.sql.ts';
import { type PaymentRow, findNewestOfSlot } from '../payment/payment.sql.ts';
import { isDedicated, isInTenure } from '../settlement/parts.ts';
import { sumWith } from '../settlement/parts.sql.ts';
import type { TransferRow } from '../settlement/transfer.sql.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { intervalOf, REST_MS, startOfNextSecond, waitedOrRested } from '../settlement/payment-window.ts';
import { type Candidate, findConcerned } from '../settlement/candidates.sql.ts';

type Pair = { payment: PaymentRow; transfer: TransferRow };

/**
 * @param confirmed the number of candidates that the author says there are; null when it says nothing.
 * @returns why this transfer cannot be accepted for this payment, in a sentence for the operator; null when it can.
 */
export function refusalReason(
  { payment, transfer }: Pair,
  standing: Standing,
  confirmed: number | null,
): string | null {
  const { payment_id: paymentId, status } = payment;
  if (transfer.payment_id === paymentId) return `This transfer pays ${paymentId} by itself: there is nothing to accept`;
  const pays = transfer.payment_id ?? (transfer.counted ? transfer.related_payment_id : null);
  if (pays !== null && pays !== paymentId) return `This transfer pays another payment, ${pays}`;
  if (status === 'PAID') return `${paymentId} is PAID already`;
  if (status === 'CHECKING') return `${paymentId} is CHECKING: another transfer is about to pay it`;
  if (transfer.phase === 'retracted') return 'This transfer is gone from the chain';
  if (transfer.network !== payment.network || transfer.recipient !== payment.recipient)
    return `This transfer went to another wallet than ${paymentId} asks for`;
  if (transfer.sender === transfer.recipient) return 'This transfer went from the wallet to itself and brought nothing';
  return refusalOfOthers({ payment, transfer }, standing) ?? unconfirmed(standing, confirmed);
}

/** Refuses money that is probably another payment's. */
function refusalOfOthers({ payment, transfer }: Pair, { candidates, concerned, exactFor }: Standing): string | null {
  const { payment_id: paymentId, merchant_id: merchantId } = payment;
  const ids = candidates.map(({ payment_id: id }) => id);
  if (!concerned.includes(merchantId))
    return ids.length === 0
      ? `This transfer came while its wallet belonged to another merchant, ${concerned.join(', ')}`
      : `This transfer may be for payments of another merchant: ${ids.join(', ')}`;
  if (exactFor !== null) return `This transfer has exactly the amount of another payment, ${exactFor.payment_id}`;
  if (ids.length === 0 || ids.includes(paymentId)) return null;
  if (transfer.match_status === 'pending')
    return `This transfer came in time for another payment, ${ids.join(', ')}, and pays it once it is confirmed`;
  const isExact = BigInt(transfer.amount_units) === tokenUnitsOf(payment, transfer);
  return isExact ? `This transfer came in the time of another payment of this amount: ${ids.join(', ')}` : null;
}

/** Anyone who accepts a transfer with several candidates has to confirm that they know of the others. */
function unconfirmed({ candidates: { length: count } }: Standing, confirmed: number | null): string | null {
  if (count <= 1 ? confirmed === null || confirmed === 1 : confirmed === count) return null;
  return confirmed === null
    ? `This transfer may be for any of ${count} payments: find out whose it is, and repeat this with confirm_candidates ${count}`
    : `This transfer may be for ${count} ${count === 1 ? 'payment' : 'payments'} now, not ${confirmed}: look at it again`;
}

/**
 * @param known what the ledger has of the transfer; null when it has nothing.
 * @returns what the chain shows of the transfer, or a sentence that says why it is not enough.
 */
export function proveTransfer(known: TransferRow | null, finding: Finding): ChainProof | string {
  if (finding.finding !== 'present') return findingReasons[finding.reason];
  const different = known === null ? [] : differences(known, finding);
  if (different.length > 0) return `The chain has another transfer there than the ledger: ${different.join('; ')}`;
  if (!finding.is_final) {
    const { confirmations, confirmations_required: required } = finding;
    return `This transfer is not final yet: it has ${confirmations} confirmations, and the network asks for ${required} or more`;
  }
  return finding;
}

/** A reason without a row here does not compile. */
const findingReasons: Record<Exclude<Finding, { finding: 'present' }>['reason'], string> = {
  no_receipt: 'The chain does not have this transaction now',
  orphaned: 'The block of this transaction is not in the chain any more',
  failed: 'This transaction failed on chain: it moved nothing',
  no_event: 'This transaction has no event at this position',
  no_transfer: 'The event at this position is no transfer of USDT',
  network_unknown: 'chain-watcher does not follow this network, so the chain cannot be checked',
  network_halted: 'chain-watcher has halted this network: its incident there comes first',
};

function differences(transfer: TransferRow, found: Extract<Finding, { finding: 'present' }>): string[] {
  const compared: [name: string, ledger: string | number, chain: string | number][] = [
    ['recipient', transfer.recipient, found.to],
    ['sender', transfer.sender, found.from],
    ['amount_units', transfer.amount_units, found.amount_units],
    ['decimals', transfer.decimals, found.decimals],
    ['block_hash', transfer.block_hash, found.block_hash],
  ];
  return compared
    .filter(([, ledger, chain]) => ledger !== chain)
    .map(([name, ledger, chain]) => `${name} ${chain} instead of ${ledger}`);
}

/** Which payments and merchants an unmatched transfer may belong to. */
export type Standing = {
  /** The payments it may be for. */
  candidates: Candidate[];
  /** The merchants it concerns; at least one. */
  concerned: string[];
  /**
   * A payment whose amount differs from this one's, that was waiting for exactly what the transfer carries, or had ended less than 24 hours
   * before.
   */
  exactFor: PaymentRow | null;
  /** What the payment gets, in base units of the token: all confirmed transfers together if it has its address for itself. */
  units: bigint;
};

/** @param pair a payment, and a transfer that may be accepted for it. A transfer that is not in the ledger has no candidates yet. */
export async function findStanding(
  db: Queryable,
  { payment, transfer }: { payment: PaymentRow; transfer: TransferRow },
): Promise<Standing> {
  const { candidates, concerned } = (await findConcerned(db, transfer)) ?? {
    candidates: [],
    concerned: [payment.merchant_id],
  };
  const slot = slotSearchOf(transfer);
  const isOther = slot !== null && slot.amountUnits !== payment.amount_units && !isInTenure(payment, transfer);
  const { from, to } = intervalOf(transfer);
  // The transfer cannot be for payments that began after it was known, and they must not hide an earlier payment.
  const createdBefore = new Date(Math.min(startOfNextSecond(to).getTime(), knownFrom(transfer)));
  const span = { endedAfter: new Date(from - REST_MS), createdBefore };
  const exact = isOther ? await findNewestOfSlot(db, slot, span) : null;
  return {
    candidates,
    concerned,
    exactFor: exact !== null && waitedOrRested(exact, transfer) ? exact : null,
    units: isDedicated(payment) ? await sumWith(db, payment.payment_id, transfer) : BigInt(transfer.amount_units),
  };
}
