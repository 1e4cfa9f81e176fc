import type { Author } from '@quittance/contracts/author.ts';
import type { UnmatchedReason } from '@quittance/contracts/payment.ts';
import { HttpError } from '@quittance/http/errors.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { proofOf, refusalOf } from './acceptance-rules.ts';
import type { Announcer } from './announcer.ts';
import type { Finding, TransferVerifier } from './clients.ts';
import { pay } from './settlement.ts';
import { type AcceptanceRow, findAcceptance, findPayment, insertAcceptance, type Proof } from './store/acceptance.ts';
import type { PaymentRow } from './store/payment.ts';
import { findLedgerTransfer, type LedgerTransfer, lockPayment, lockWallet, type TransferId } from './store/transfer.ts';
import { unmatchedReasonFor } from './unmatched.ts';

export type AcceptanceContext = {
  db: Queryable;
  /** Runs one database transaction. */
  transact: <T>(run: (tx: Transaction) => Promise<T>) => Promise<T>;
  verifier: TransferVerifier;
  announcer: Announcer;
  logger: Logger;
};

/** The transfer is one of the payment's network. */
export type AcceptanceRequest = {
  paymentId: string;
  event: Omit<TransferId, 'network'>;
  author: Author;
};

/** A payment, and a transfer of the ledger that may be accepted for it. */
export type Pair = { payment: PaymentRow; transfer: LedgerTransfer };

/**
 * Makes a transfer that pays nothing pay this payment, because an operator says so. The chain is asked anew, before and outside the
 * transaction: what the ledger remembers is not enough to undo a rule. The payment then is PAID like any other, with its own amount in
 * what is said of it, and the decision is written down beside it. Repeating it changes nothing and answers the same.
 * @throws HttpError 404 for an unknown payment or transfer, 409 with a sentence when it cannot be accepted.
 * @throws ServiceUnavailable when the chain could not be asked.
 */
export async function acceptTransfer(context: AcceptanceContext, request: AcceptanceRequest): Promise<AcceptanceRow> {
  const { db, transact, verifier } = context;
  const pair = await findPair(db, request);
  const accepted = await findAcceptanceFor(db, pair.payment, pair.transfer);
  if (accepted !== null) return accepted;
  // Decided once more under locks; here it saves the question, and the transaction.
  refuse(refusalOf(pair.payment, pair.transfer));
  const finding = await verifier.verify(pair.transfer);
  proven(proofOf(pair.transfer, finding));
  return transact((tx) => acceptLocked({ ...context, tx }, pair, finding, request.author));
}

/** @throws HttpError 404 naming what is missing. */
export async function findPair(
  db: Queryable,
  { paymentId, event }: Pick<AcceptanceRequest, 'paymentId' | 'event'>,
): Promise<Pair> {
  const payment = await findPayment(db, paymentId);
  if (payment === null) throw new HttpError(404, 'Payment not found');
  const transfer = await findLedgerTransfer(db, { network: payment.network, ...event });
  if (transfer === null) throw new HttpError(404, `The ledger has no such transfer on ${payment.network}`);
  return { payment, transfer };
}

type LockedContext = Pick<AcceptanceContext, 'announcer' | 'logger'> & { tx: Transaction };

/** Decides with everything locked that concerns the wallet, in the order in which settling does: wallet, transfer, payment. */
async function acceptLocked(
  context: LockedContext,
  { payment: { payment_id: paymentId, network, recipient }, transfer: id }: Pair,
  finding: Finding,
  author: Author,
): Promise<AcceptanceRow> {
  const { tx } = context;
  await lockWallet(tx, network, recipient);
  const transfer = await findLedgerTransfer(tx, id, 'for update');
  const payment = await lockPayment(tx, paymentId);
  if (transfer === null || payment === null) throw new Error('payments and the ledger are never deleted');
  const accepted = await findAcceptanceFor(tx, payment, transfer);
  if (accepted !== null) return accepted;
  refuse(refusalOf(payment, transfer));
  const proof = proven(proofOf(transfer, finding));
  await pay(context, payment, transfer);
  await insertAcceptance(tx, { payment, transfer, proof, unmatchedReason: reasonOf({ payment, transfer }), author });
  const written = await findAcceptance(tx, transfer);
  if (written === null) throw new Error('an acceptance that was just written is not there');
  logAccepted(context, written);
  return written;
}

/** @returns why the transfer did not pay this payment by itself; null when nothing is wrong with it but that no payment waited. */
export const reasonOf = ({ payment, transfer }: Pair): UnmatchedReason | null =>
  unmatchedReasonFor(payment, { ...transfer, tokenUnits: BigInt(transfer.amount_units) });

/** @returns null where the transfer was accepted for another payment, too: then that is what refuses it. */
async function findAcceptanceFor(db: Queryable, payment: PaymentRow, id: TransferId): Promise<AcceptanceRow | null> {
  const acceptance = await findAcceptance(db, id);
  return acceptance?.payment_id === payment.payment_id ? acceptance : null;
}

function refuse(refusal: string | null): void {
  if (refusal !== null) throw new HttpError(409, refusal);
}

function proven(proof: Proof | string): Proof {
  if (typeof proof === 'string') throw new HttpError(409, proof);
  return proof;
}

/** Money that no rule would have taken: worth a line in the log, beside the row for the audit. */
function logAccepted({ tx, logger }: LockedContext, acceptance: AcceptanceRow): void {
  const { payment_id, network, transaction_id, transaction_event_index, unmatched_reason, actor } = acceptance;
  tx.afterCommit(() =>
    logger.warn(
      { payment_id, network, transaction_id, transaction_event_index, unmatched_reason, actor },
      'an operator accepted a transfer as payment',
    ),
  );
}
