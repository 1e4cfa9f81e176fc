import type { Author } from '@quittance/contracts/author.ts';
import { type Finding, VerifyTransfer } from '@quittance/contracts/http/chain-watcher/transfers.ts';
import type { ServiceClient } from '@quittance/http/client/client.ts';
import { conflict, HttpError } from '@quittance/http/errors.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transact, Transaction } from '@quittance/postgres/transaction.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { PaymentMessages } from '../payment-messages.ts';
import { pay } from '../settlement/settlement.ts';
import { unmatchedReasonFor } from '../settlement/payment-window.ts';
import { type AcceptanceRow, type ChainProof, findAcceptance, insertAcceptance } from '../store/acceptance.ts';
import { findPayment, type PaymentRow } from '../store/payment.ts';
import {
  findMerchantConcerned,
  findTransfer,
  lockWallets,
  type TransferId,
  type TransferRow,
} from '../store/transfer.ts';
import { proveTransfer, refusalReason } from './acceptance-rules.ts';

export type AcceptanceContext = {
  db: Queryable;
  transact: Transact;
  /** Of chain-watcher, with a deadline that leaves it time to ask several nodes. */
  verifier: ServiceClient;
  messages: PaymentMessages;
  logger: Logger;
};

/** The transfer is on the payment's network. */
export type AcceptanceRequest = {
  paymentId: string;
  event: Omit<TransferId, 'network'>;
  author: Author;
  /** What this author may not accept although an operator could: a sentence that says why, or null. */
  refusal?: (pair: Pair, concerned: string) => string | null;
};

/** A payment, and a transfer of the ledger that may be accepted for it. */
export type Pair = { payment: PaymentRow; transfer: TransferRow };

/**
 * Makes a transfer that pays nothing pay this payment, because an operator or its merchant decides so. The chain is asked again, before and outside
 * the transaction: the stored ledger is not enough to override a rule. The payment is then PAID like any other, its messages carry
 * its own amount, and the decision is stored beside it. Repeating it changes nothing and answers the same.
 * @throws HttpError 404 for an unknown payment or transfer, 409 with a sentence when it cannot be accepted.
 * @throws ServiceUnavailable when the chain could not be asked.
 */
export async function acceptTransfer(context: AcceptanceContext, request: AcceptanceRequest): Promise<AcceptanceRow> {
  const { db, transact, verifier } = context;
  const pair = await findPair(db, request);
  const accepted = await findAcceptanceFor(db, pair);
  if (accepted !== null) return accepted;
  // Decided again under locks; here it saves the question to the chain, and the transaction.
  await requireAcceptable(db, pair, request);
  const { network, transaction_id, transaction_event_index } = pair.transfer;
  const finding = await verifier.call(VerifyTransfer, { body: { network, transaction_id, transaction_event_index } });
  requireProof(pair.transfer, finding);
  return transact((tx) => acceptLocked({ ...context, tx }, pair, finding, request));
}

/** @throws HttpError 404 naming what is missing. */
export async function findPair(
  db: Queryable,
  { paymentId, event }: Pick<AcceptanceRequest, 'paymentId' | 'event'>,
): Promise<Pair> {
  const payment = await findPayment(db, paymentId);
  if (payment === null) throw new HttpError(404, 'Payment not found');
  const transfer = await findTransfer(db, { network: payment.network, ...event });
  if (transfer === null) throw new HttpError(404, `The ledger has no such transfer on ${payment.network}`);
  return { payment, transfer };
}

type LockedContext = Pick<AcceptanceContext, 'messages' | 'logger'> & { tx: Transaction };

/** Decides with everything of the wallet locked, in the order in which settling locks it: wallet, transfer, payment. */
async function acceptLocked(
  context: LockedContext,
  { payment: { payment_id: paymentId, network, recipient }, transfer: id }: Pair,
  finding: Finding,
  request: AcceptanceRequest,
): Promise<AcceptanceRow> {
  const { tx } = context;
  await lockWallets(tx, [{ network, recipient }]);
  const transfer = await findTransfer(tx, id, 'for update');
  const payment = await findPayment(tx, paymentId, 'for update');
  // It has gone to the archive meanwhile.
  if (payment === null) throw new HttpError(404, 'Payment not found');
  if (transfer === null) throw new Error(`transfer ${id.transaction_id} was deleted from the ledger`);
  const pair = { payment, transfer };
  const accepted = await findAcceptanceFor(tx, pair);
  if (accepted !== null) return accepted;
  await requireAcceptable(tx, pair, request);
  const proof = requireProof(transfer, finding);
  await pay(context, payment, transfer);
  await insertAcceptance(tx, {
    ...pair,
    proof,
    unmatchedReason: unmatchedReasonFor(payment, transfer),
    author: request.author,
  });
  const written = await findAcceptance(tx, transfer);
  if (written === null) throw new Error(`the acceptance of transfer ${id.transaction_id} was not written`);
  logAccepted(context, written);
  return written;
}

/** @returns null where the transfer was accepted for another payment: that makes refusalReason() refuse it. */
async function findAcceptanceFor(db: Queryable, { payment, transfer }: Pair): Promise<AcceptanceRow | null> {
  const acceptance = await findAcceptance(db, transfer);
  return acceptance?.payment_id === payment.payment_id ? acceptance : null;
}

/** @throws HttpError 409 with a sentence. */
async function requireAcceptable(db: Queryable, pair: Pair, { refusal }: AcceptanceRequest): Promise<void> {
  const concerned = await findMerchantConcerned(db, pair.transfer);
  // What is refused to this author comes first: the other sentences may name payments that are none of the author's business.
  const reason = refusal?.(pair, concerned) ?? refusalReason(pair.payment, pair.transfer, concerned);
  if (reason !== null) throw conflict('transfer_not_acceptable', reason);
}

function requireProof(transfer: TransferRow, finding: Finding): ChainProof {
  const proof = proveTransfer(transfer, finding);
  if (typeof proof === 'string') throw conflict('transfer_not_acceptable', proof);
  return proof;
}

/** Money that no rule would have matched: worth a line in the log, beside the row for the audit. */
function logAccepted({ tx, logger }: LockedContext, acceptance: AcceptanceRow): void {
  const { payment_id, network, transaction_id, transaction_event_index, unmatched_reason, actor } = acceptance;
  tx.afterCommit(() =>
    logger.warn(
      { payment_id, network, transaction_id, transaction_event_index, unmatched_reason, actor },
      'a transfer that pays nothing was accepted as payment',
    ),
  );
}
