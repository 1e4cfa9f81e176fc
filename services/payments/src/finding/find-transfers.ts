import { formatUnits, toTokenUnits } from '@quittance/contracts/amount.ts';
import type { LookedUp } from '@quittance/contracts/http/chain-watcher/look-ups.ts';
import type {
  FoundTransfer,
  FoundTransfers,
  LocatedTransfers,
  ExplanationCode,
} from '@quittance/contracts/http/payments/look-ups.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import type { TransactionFinder } from '../clients.ts';
import { shownCandidates } from '../settlement/candidates.sql.ts';
import {
  findLikeliestNetwork,
  findOwnWallets,
  findTransfersOf,
  type FoundTransferRow,
  findNearestCandidate,
} from './find.sql.ts';
import { type ProgressSources, withProgress } from '../payment/progress.ts';
import type { UnmatchedReason } from '@quittance/contracts/api/payment.ts';
import type { WaitingFor } from '@quittance/contracts/api/transaction.ts';
import type { PaymentRow } from '../payment/payment.sql.ts';

export type FindingContext = ProgressSources & {
  db: Queryable;
  finder: TransactionFinder;
  /** Ids of the enabled networks. */
  networks: readonly string[];
};

/**
 * Where a merchant's money is. Only the part of the ledger that concerns this merchant is used: a transfer to another merchant's wallet is
 * looked up on chain like any other, so that no answer reveals more than the chain does.
 */
export async function findMerchantTransfers(
  context: FindingContext,
  merchantId: string,
  transactionId: string,
): Promise<FoundTransfers> {
  const rows = await findTransfersOf(context.db, transactionId, { merchantId });
  const transfers = await toFound(context, rows, merchantId);
  if (transfers.length > 0)
    return { transfers: transfers.map(({ merchant_id: _, ...own }) => own), ...explainTransfers(transfers) };
  const first = await findLikeliestNetwork(context.db, merchantId);
  const lookedUp = await context.finder.lookUp(transactionId, first, { merchant_id: merchantId, by: 'merchant' });
  return { transfers: [], ...explainLookedUp(lookedUp, await ownWallets(context, merchantId, lookedUp)) };
}

/** The same for operators, of all merchants. */
export async function locateTransfers(context: FindingContext, transactionId: string): Promise<LocatedTransfers> {
  const rows = await findTransfersOf(context.db, transactionId);
  const transfers = await toFound(context, rows, null);
  if (transfers.length > 0)
    return { transaction_id: transactionId, transfers, ...explainTransfers(transfers), chain: null };
  const chain = await context.finder.lookUp(transactionId, null, null);
  const explanation = explainLookedUp(chain, await ownWallets(context, null, chain));
  return { transaction_id: transactionId, transfers: [], ...explanation, chain };
}

async function ownWallets(
  { db, networks }: FindingContext,
  merchantId: string | null,
  lookedUp: LookedUp,
): Promise<string[]> {
  if (lookedUp.outcome !== 'mined') return [];
  const addresses = new Set([...lookedUp.transfers.map(({ to }) => to), ...lookedUp.other_recipients]);
  return findOwnWallets(db, merchantId, [...addresses], networks);
}

async function toFound(
  progress: ProgressSources,
  rows: readonly FoundTransferRow[],
  merchantId: string | null,
): Promise<(FoundTransfer & { merchant_id: string })[]> {
  // `waiting_for` is normally computed for the payment that a transfer pays; here it is computed for the transfer itself.
  const seen = await withProgress(
    rows.map((row) => ({
      ...row,
      status: row.phase === 'seen' ? 'CHECKING' : 'PAID',
      amount_units: millionthsOf(row),
    })),
    progress,
  );
  return rows.map((row, position) => {
    const { only, ...shown } = shownCandidates(row.candidates, merchantId);
    return {
      network: row.network,
      transaction_id: row.transaction_id,
      transaction_event_index: row.transaction_event_index,
      amount: formatUnits(BigInt(row.amount_units), row.decimals),
      merchant_wallet: row.recipient,
      sender: row.sender,
      block_number: Number(row.block_number),
      block_timestamp: rfc3339(row.block_timestamp),
      state: row.phase,
      waiting_for: seen[position]?.waiting_for ?? null,
      payment_id: row.payment_id ?? only,
      reason: row.reason,
      ...shown,
      merchant_id: merchantId ?? row.merchant_ids[0] ?? '',
    };
  });
}

const millionthsOf = ({ amount_units: units, decimals }: FoundTransferRow): bigint =>
  BigInt(units) / toTokenUnits(1n, decimals);

type Explanation = { explanation: string; explanation_code: ExplanationCode };

/** Explains the transfers of one transaction that the ledger has, at least one. The best outcome among them is the answer. */
function explainTransfers(transfers: readonly FoundTransfer[]): Explanation {
  const standing = transfers.filter(({ state }) => state !== 'retracted');
  // A closed payment is the candidate of a transfer that will pay it when confirmed.
  const paying = standing.filter(({ payment_id: id, reason }) => id !== null && reason === null);
  if (paying.length > 0) return say('pays_payment', paying.map(payingText).join(' '));
  if (standing.length > 0) return say('unmatched', standing.map(unmatchedText).join(' '));
  return say('pending', 'The block that had it is no longer in the chain. It may come into another block.');
}

const waitingTexts: Record<WaitingFor, string> = {
  confirmations: 'more confirmations',
  finality: 'the chain to call its block final',
  second_endpoint: 'a second endpoint to show it',
};

function payingText({ payment_id: id, amount, state, waiting_for: waiting }: FoundTransfer): string {
  if (state === 'confirmed') return `It pays ${String(id)} with ${amount} USDT.`;
  const still = waiting === null ? 'it is confirmed' : `it is confirmed; it waits for ${waitingTexts[waiting]}`;
  return `It pays ${String(id)} with ${amount} USDT once ${still}.`;
}

const reasonTexts: Record<UnmatchedReason, string> = {
  underpaid: 'it is less than the payment asks for',
  overpaid: 'it is more than the payment asks for',
  late: 'it did not come in the time of the payment',
  after_cancel: 'it came after the payment was cancelled',
  duplicate: 'the payment is paid by another transfer',
  ambiguous: 'it may be for another payment as well',
};

function unmatchedText(transfer: FoundTransfer): string {
  const { amount, network, payment_id: id, reason, candidates, candidates_elsewhere: elsewhere } = transfer;
  const reached = `${amount} USDT reached your wallet on ${network} and paid no payment`;
  if (elsewhere)
    return `${reached}: it may be for a payment of another merchant who uses this wallet. Only an operator can accept it.`;
  if (candidates.length > 1)
    return `${reached}: it may be for any of ${candidates.length} payments. Find out whose it is before you accept it for one.`;
  if (id === null || reason === null) return `${reached}: no payment was waiting for it.`;
  return `${reached}: it may be for ${id}, but ${reasonTexts[reason]}. You can accept it for that payment if it carries enough.`;
}

/**
 * Explains a transaction that the ledger does not have.
 * @param own those of its addresses that are the merchant's wallets.
 */
function explainLookedUp(lookedUp: LookedUp, own: readonly string[]): Explanation {
  switch (lookedUp.outcome) {
    case 'unknown':
      return say(
        'unknown',
        'It was not found on any enabled network. Check that the id is complete, or ask again later.',
      );
    case 'not_read_yet':
      return say('not_read_yet', notReadTexts[lookedUp.reason]);
    case 'pending':
      return say('pending', `${lookedUp.network} knows it, and no block has it yet.`);
    case 'failed':
      return say('failed', `It failed on ${lookedUp.network} and moved nothing.`);
    case 'mined':
      return explainMined(lookedUp, own);
  }
}

const notReadTexts = {
  budget: 'As much has been looked up for you as may be within an hour. Ask again later.',
  no_answer: 'Not every network has answered. Ask again in some seconds.',
};

function explainMined(mined: Extract<LookedUp, { outcome: 'mined' }>, own: readonly string[]): Explanation {
  const { network, transfers, other_recipients: others, is_scanned: isScanned, is_final: isFinal } = mined;
  const reached = transfers.find(({ to }) => own.includes(to));
  if (reached !== undefined) {
    const where = `It reached your wallet ${reached.to} on ${network}`;
    return isScanned && isFinal
      ? say('unmatched', `${where} when no payment was waiting there, and pays nothing.`)
      : say('not_read_yet', `${where}, in block ${mined.block_number}, which is not read yet.`);
  }
  const brought = others.find((address) => own.includes(address));
  if (brought !== undefined)
    return say('other_token', `It brought something else than USDT to ${brought} on ${network}.`);
  return say('not_your_wallet', `It is on ${network} and brought no USDT to a wallet of yours.`);
}

const say = (code: ExplanationCode, explanation: string): Explanation => ({ explanation, explanation_code: code });

/**
 * Money at a payment's address that its customer may have sent. The page shows it while the payment waits, and for 24 hours after it ended
 * unpaid. Every payment that the money may be for shows it, because nobody knows which one it belongs to.
 */
export async function findArrived(db: Queryable, payment: PaymentRow): Promise<{ amount: string } | null> {
  if (payment.status === 'PAID' || payment.status === 'CHECKING') return null;
  const found = await findNearestCandidate(db, payment);
  return found && { amount: formatUnits(BigInt(found.amount_units), found.decimals) };
}
