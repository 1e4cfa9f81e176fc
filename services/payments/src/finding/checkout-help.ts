import type { CheckoutHelp, CheckoutQuestion } from '@quittance/contracts/http/payments/look-ups.ts';
import type { CheckoutLookup } from '@quittance/contracts/api/checkout.ts';
import { findPaymentByToken, findTransfersOf, type FoundTransferRow } from './find.sql.ts';
import type { PaymentRow } from '../payment/payment.sql.ts';
import { findArrived, type FindingContext } from './find-transfers.ts';
import type { ReadWarnings } from '../payment/warnings.ts';
import { isDedicated } from '../settlement/parts.ts';
import { formatUnits, toTokenUnits } from '@quittance/contracts/amount.ts';
import type { LookedUp } from '@quittance/contracts/http/chain-watcher/look-ups.ts';
import { intervalOf, type Sighting, wasKnownBefore, windowOf } from '../settlement/payment-window.ts';

type HelpContext = Pick<FindingContext, 'db' | 'finder'> & { readWarnings: ReadWarnings };

/** @returns null for an unknown token. */
export async function readCheckoutHelp(context: HelpContext, question: CheckoutQuestion): Promise<CheckoutHelp | null> {
  const payment = await findPaymentByToken(context.db, question.token_sha256);
  if (payment === null) return null;
  const lookup =
    question.transaction_id === undefined ? null : await lookUp(context, payment, question, question.transaction_id);
  const [warnings = []] = await context.readWarnings([payment]);
  // The page of an address of its own shows the sum.
  const arrived = isDedicated(payment) ? null : await findArrived(context.db, payment);
  return { arrived, lookup, warnings };
}

async function lookUp(
  { db, finder }: Pick<HelpContext, 'db' | 'finder'>,
  payment: PaymentRow,
  { token_sha256: link, client_sha256: client }: CheckoutQuestion,
  transactionId: string,
): Promise<CheckoutLookup> {
  const known = judgeTransfers(payment, await findTransfersOf(db, transactionId, { wallet: payment }));
  if (known !== null) return { transaction_id: transactionId, ...known };
  const customer = { by: 'customer', link, ...(client !== undefined && { client }) } as const;
  const account = { merchant_id: payment.merchant_id, ...customer };
  const lookedUp = await finder.lookUp(transactionId, payment.network, account);
  return { transaction_id: transactionId, ...judgeLookedUp(payment, lookedUp) };
}

/** How a transaction relates to a payment, without the transaction. */
type Verdict = Omit<CheckoutLookup, 'transaction_id'>;

type Payment = Pick<
  PaymentRow,
  | 'payment_id'
  | 'network'
  | 'recipient'
  | 'amount_units'
  | 'created_at'
  | 'expires_at'
  | 'cancelled_at'
  | 'rest_seconds'
  | 'status'
>;

/** A transfer to the payment's address. */
type Reaching = Sighting & { network: string; amount_units: string; decimals: number };

/** When several transfers reach the address, the first of these that applies is the answer. */
const PRECEDENCE = [
  'pays_this_payment',
  'pending',
  'other_amount',
  'too_late',
  'not_for_this_payment',
  'other_network',
] as const satisfies CheckoutLookup['outcome'][];

/**
 * How a transaction's transfers in the ledger relate to a payment.
 * @param reaching those to its wallet, on its network.
 * @returns null when there are none: the chain then has to be read.
 */
function judgeTransfers(payment: Payment, reaching: readonly FoundTransferRow[]): Verdict | null {
  return first(
    reaching.map((row) => {
      if (row.phase === 'retracted') return verdict('pending');
      const meant = row.payment_id ?? (row.match_status === 'pending' ? row.candidates[0]?.payment_id : null);
      return meant === payment.payment_id ? verdict('pays_this_payment') : judgeByChain(payment, row, 'read');
    }),
  );
}

/** How a transaction that the ledger does not have for this wallet relates to a payment. */
function judgeLookedUp(payment: Payment, lookedUp: LookedUp): Verdict {
  if (lookedUp.outcome !== 'mined') return verdict(lookedUp.outcome);
  const { network, transfers, other_recipients: others } = lookedUp;
  const blockTime = new Date(lookedUp.block_timestamp);
  const reaching = transfers
    .filter(({ to }) => to === payment.recipient)
    .map((transfer) =>
      judgeByChain(payment, { ...transfer, ...seenNow, network, block_timestamp: blockTime }, 'unread'),
    );
  const best = first(reaching);
  if (best !== null) return best;
  if (!others.includes(payment.recipient)) return verdict('other_address');
  return network === payment.network ? verdict('other_token') : { ...verdict('other_network'), network };
}

/**
 * Uses only this payment and what the chain shows of the transfer. It must not reveal anything else: the question may come from another
 * payment's customer.
 * @param standing whether the ledger has the transfer; one it does not have may still pay.
 */
function judgeByChain(payment: Payment, transfer: Reaching, standing: 'read' | 'unread'): Verdict {
  const amount = formatUnits(BigInt(transfer.amount_units), transfer.decimals);
  if (transfer.network !== payment.network) return { outcome: 'other_network', amount, network: transfer.network };
  const { start, end } = windowOf(payment);
  const { from, to } = intervalOf(transfer);
  if (to < start || wasKnownBefore(payment, transfer)) return verdict('not_for_this_payment');
  const isAlone = isDedicated(payment);
  if (!isAlone && BigInt(transfer.amount_units) !== toTokenUnits(payment.amount_units, transfer.decimals))
    return { ...verdict('other_amount'), amount };
  if (from >= end) return { ...verdict('too_late'), amount };
  if (isAlone && standing === 'read' && payment.status !== 'PAID') return verdict('pays_this_payment');
  return verdict(standing === 'read' ? 'not_for_this_payment' : 'pending');
}

/** The chain was not read without a gap for a transfer that is not in the ledger. */
const seenNow = { first_seen_at: null, live: false };

function first(verdicts: readonly Verdict[]): Verdict | null {
  for (const outcome of PRECEDENCE) {
    const found = verdicts.find((candidate) => candidate.outcome === outcome);
    if (found !== undefined) return found;
  }
  return null;
}

const verdict = (outcome: CheckoutLookup['outcome']): Verdict => ({ outcome, amount: null, network: null });
