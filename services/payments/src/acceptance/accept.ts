import type { Author } from '@quittance/contracts/author.ts';
import { type Finding, VerifyTransfer } from '@quittance/contracts/http/chain-watcher/transfers.ts';
import type { AcceptedTransfer } from '@quittance/contracts/http/payments/acceptance.ts';
import type { TransferObserved } from '@quittance/contracts/messages.ts';
import type { ServiceClient } from '@quittance/http/client/client.ts';
import { conflict, HttpError } from '@quittance/http/errors.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transact, Transaction } from '@quittance/postgres/transaction.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { PaymentMessages } from '../payment/outgoing-messages.ts';
import { isDedicated } from '../settlement/parts.ts';
import { reasonShown } from '../settlement/payment-window.ts';
import { pay, reviewTransfers } from '../settlement/settlement.ts';
import { moneyOf } from '../settlement/unmatched-notices.ts';
import { type AcceptanceRow, type ChainProof, findAcceptance, insertAcceptance } from './acceptance.sql.ts';
import { findPayment, type PaymentRow } from '../payment/payment.sql.ts';
import {
  findTransfer,
  lockWallets,
  type TransferId,
  type TransferRow,
  unrecorded,
} from '../settlement/transfer.sql.ts';
import { proveTransfer, refusalReason, findStanding, type Standing } from './acceptance-rules.ts';
import { formatUnits } from '@quittance/contracts/amount.ts';
import { tokenUnitsOf } from '../settlement/decision.ts';

export type AcceptanceContext = {
  db: Queryable;
  transact: Transact;
  /** The client of chain-watcher. Its deadline leaves chain-watcher time to ask several nodes. */
  verifier: ServiceClient;
  messages: PaymentMessages;
  logger: Logger;
};

/** The transfer is on the payment's network. */
export type AcceptanceRequest = {
  paymentId: string;
  event: AcceptedTransfer;
  author: Author;
  /** A further rule for this author, stricter than the operator's. Returns a sentence that says why not, or null. */
  refusal?: (pair: Pair, standing: Standing) => string | null;
};

/** A payment, and a transfer that may be accepted for it. */
export type Pair = { payment: PaymentRow; transfer: TransferRow };

/**
 * Makes an unmatched transfer pay this payment, because an operator or the merchant decides so. The chain is read again, before and outside
 * the transaction. The stored ledger is not enough to override a rule. It is not needed either: money may arrive after the wallet is no
 * longer watched. The payment then becomes PAID like any other, its messages carry its own amount, and the decision is stored with it.
 * Repeating the call changes nothing and returns the same answer.
 * @throws HttpError 404 for an unknown payment, 409 with a sentence when the transfer cannot be accepted.
 * @throws ServiceUnavailable when the chain could not be read.
 */
export async function acceptTransfer(context: AcceptanceContext, request: AcceptanceRequest): Promise<AcceptanceRow> {
  const { db, transact, verifier } = context;
  const payment = await findPayment(db, request.paymentId);
  if (payment === null) throw new HttpError(404, 'Payment not found');
  const id = transferIdOf(payment, request.event);
  const accepted = await findAcceptanceFor(db, id, payment);
  if (accepted !== null) return accepted;
  const known = await findTransfer(db, id);
  // Checked again under locks. Checking it here first saves the question to the chain, and the transaction.
  const refused = known === null ? null : await whyRefused(db, { payment, transfer: known }, request);
  if (refused !== null) {
    // The same acceptance may have been committed since the look-up.
    const meanwhile = await findAcceptanceFor(db, id, payment);
    if (meanwhile !== null) return meanwhile;
    throw notAcceptable(refused);
  }
  const finding = await verifier.call(VerifyTransfer, { body: id });
  requireProof(known, finding);
  if (known === null) await recordFound(context, id, finding, payment);
  return transact((tx) => acceptLocked({ ...context, tx }, payment, id, finding, request));
}

const transferIdOf = ({ network }: PaymentRow, { transaction_id, transaction_event_index }: AcceptedTransfer) => ({
  network,
  transaction_id,
  transaction_event_index,
});

/**
 * A transfer and a payment, for an operator to compare. A transfer that the ledger does not have is read from the chain.
 * @throws HttpError 404 naming what is missing.
 */
export async function findPair(
  { db, verifier }: Pick<AcceptanceContext, 'db' | 'verifier'>,
  { paymentId, event }: Pick<AcceptanceRequest, 'paymentId' | 'event'>,
): Promise<Pair & { standing: Standing }> {
  const payment = await findPayment(db, paymentId);
  if (payment === null) throw new HttpError(404, 'Payment not found');
  const id = transferIdOf(payment, event);
  const transfer = (await findTransfer(db, id)) ?? (await readFromChain(verifier, id, payment));
  if (transfer === null)
    throw new HttpError(404, `Neither the ledger nor the chain has such a transfer on ${id.network}`);
  return { payment, transfer, standing: await findStanding(db, { payment, transfer }) };
}

async function readFromChain(
  verifier: ServiceClient,
  id: TransferId,
  payment: PaymentRow,
): Promise<TransferRow | null> {
  const finding = await verifier.call(VerifyTransfer, { body: id });
  return finding.finding === 'present' ? unrecorded(observedOf(id, finding, payment)) : null;
}

/**
 * Writes a transfer that the chain shows and chain-watcher has not published into the ledger, with the payments it may be for. It doesn't
 * pay any of them automatically: nobody knows here when it was first read, and that may have been before the payment was created.
 */
async function recordFound(
  context: AcceptanceContext,
  id: TransferId,
  finding: Finding,
  payment: PaymentRow,
): Promise<void> {
  if (finding.finding !== 'present' || finding.to !== payment.recipient)
    throw notAcceptable(`This transfer went to another wallet than ${payment.payment_id} asks for`);
  const found = observedOf(id, finding, payment);
  await context.transact((tx) => reviewTransfers({ ...context, tx }, [found]));
}

/** The message that chain-watcher would publish, but with a version older than any it publishes. */
const observedOf = (
  { network, transaction_id, transaction_event_index }: TransferId,
  { finding: _, is_final: isFinal, ...shown }: Extract<Finding, { finding: 'present' }>,
  { merchant_id }: PaymentRow,
): TransferObserved => ({
  ...{ network, transaction_id, transaction_event_index, merchant_id },
  ...shown,
  phase: isFinal ? 'confirmed' : 'seen',
  version: 0,
});

type LockedContext = Pick<AcceptanceContext, 'messages' | 'logger'> & { tx: Transaction };

/** Decides with everything of the wallet locked, in the order in which settling takes its locks: wallet, transfer, payment. */
async function acceptLocked(
  context: LockedContext,
  wallet: { network: string; recipient: string },
  id: TransferId,
  finding: Finding,
  request: AcceptanceRequest,
): Promise<AcceptanceRow> {
  const { tx } = context;
  await lockWallets(tx, [wallet]);
  const transfer = await findTransfer(tx, id, 'for update');
  const payment = await findPayment(tx, request.paymentId, 'for update');
  // It has been archived in the meantime.
  if (payment === null) throw new HttpError(404, 'Payment not found');
  if (transfer === null) throw new Error(`transfer ${id.transaction_id} was deleted from the ledger`);
  const pair = { payment, transfer };
  const earlier = await findAcceptanceFor(tx, id, payment);
  if (earlier !== null) return earlier;
  const refused = await whyRefused(tx, pair, request);
  if (refused !== null) throw notAcceptable(refused);
  const proof = requireProof(transfer, finding);
  const unmatchedReason = reasonShown(payment, transfer);
  const accepted = { transfer, money: moneyOf(transfer, unmatchedReason) };
  await pay(context, payment, accepted, () =>
    insertAcceptance(tx, { ...pair, proof, unmatchedReason, author: request.author }),
  );
  const written = await findAcceptance(tx, transfer);
  if (written === null) throw new Error(`the acceptance of transfer ${id.transaction_id} was not written`);
  logAccepted(context, written);
  return written;
}

/** @returns null when the transfer was accepted for another payment: refusalReason() then refuses it. */
async function findAcceptanceFor(db: Queryable, id: TransferId, payment: PaymentRow): Promise<AcceptanceRow | null> {
  const acceptance = await findAcceptance(db, id);
  return acceptance?.payment_id === payment.payment_id ? acceptance : null;
}

/** @returns a sentence, or null when it can be accepted. */
async function whyRefused(db: Queryable, pair: Pair, { refusal, event }: AcceptanceRequest): Promise<string | null> {
  const standing = await findStanding(db, pair);
  // The author's own refusals come first: the other sentences may name payments that this author must not see.
  return refusal?.(pair, standing) ?? refusalReason(pair, standing, event.confirm_candidates ?? null);
}

const notAcceptable = (sentence: string): HttpError => conflict('transfer_not_acceptable', sentence);

/** @param known what the ledger has of the transfer; null for nothing. */
function requireProof(known: TransferRow | null, finding: Finding): ChainProof {
  const proof = proveTransfer(known, finding);
  if (typeof proof === 'string') throw notAcceptable(proof);
  return proof;
}

/** No rule would have matched this money, so it is logged as well as stored for the audit. */
function logAccepted({ tx, logger }: LockedContext, acceptance: AcceptanceRow): void {
  const { payment_id, network, transaction_id, transaction_event_index, unmatched_reason, actor } = acceptance;
  tx.afterCommit(() =>
    logger.warn(
      { payment_id, network, transaction_id, transaction_event_index, unmatched_reason, actor },
      'an unmatched transfer was accepted for a payment',
    ),
  );
}

/** How the audit of webhooks names a merchant's own action. */
const author = { actor: 'merchant', reason: 'accepted through the API' };

/**
 * Like acceptTransfer(), on the decision of the payment's merchant. An operator may accept any transfer. A merchant's decision is only as
 * safe as its API key, so the transfer must be confirmed and carry most of the amount.
 * @param leastPercent of the payment's amount.
 * @throws HttpError 404 for a payment that is not this merchant's, 409 with a sentence that never names another merchant's payment.
 * @throws ServiceUnavailable when the chain could not be read.
 */
export async function acceptAsMerchant(
  context: AcceptanceContext,
  { merchantId, paymentId, event }: { merchantId: string; paymentId: string; event: AcceptedTransfer },
  leastPercent: number,
): Promise<void> {
  const payment = await findPayment(context.db, paymentId);
  if (payment?.merchant_id !== merchantId) throw new HttpError(404, 'Payment not found');
  const refusal = (pair: Pair, standing: Standing) => merchantRefusal(pair, standing, leastPercent);
  await acceptTransfer(context, { paymentId, event, author, refusal });
}

/** @returns why a merchant may not accept this transfer, even if an operator could; null when the merchant may. */
function merchantRefusal(
  { payment, transfer }: Pair,
  { concerned, exactFor, units }: Standing,
  leastPercent: number,
): string | null {
  const pays = transfer.payment_id ?? (transfer.counted ? transfer.related_payment_id : null);
  if (pays !== null && pays !== payment.payment_id) return 'This transfer pays another payment';
  if (!concerned.includes(payment.merchant_id)) return 'This transfer is not meant for this payment';
  if (concerned.length > 1)
    return 'This transfer may be for a payment of another merchant: only an operator can accept it';
  if (exactFor !== null && exactFor.merchant_id !== payment.merchant_id)
    return 'This transfer has exactly the amount of another payment';
  if (units * 100n < tokenUnitsOf(payment, transfer) * BigInt(leastPercent)) {
    const amount = formatUnits(units, transfer.decimals);
    const carrying = isDedicated(payment) ? 'The transfers to this address carry' : 'This transfer carries';
    return `${carrying} ${amount} USDT, less than ${leastPercent} % of the amount: only an operator can accept it`;
  }
  // The chain is only read for transfers that the ledger has as confirmed. Otherwise a client that retries until then would cause a read
  // each time.
  return transfer.phase === 'seen' ? 'This transfer is not final yet' : null;
}
