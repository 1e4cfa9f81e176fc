import { formatUnits } from '@quittance/contracts/amount.ts';
import type { LookedUp } from '@quittance/contracts/http/chain-watcher/look-ups.ts';
import * as acceptance from '@quittance/contracts/http/payments/acceptance.ts';
import { LocateTransfers, type LocatedTransfers } from '@quittance/contracts/http/payments/look-ups.ts';
import type { UnmatchedListed, UnmatchedPage } from '@quittance/contracts/http/payments/unmatched.ts';
import type { UnmatchedOnWallet } from '@quittance/contracts/http/payments/wallets.ts';
import type { Payment, UnmatchedTransfer } from '@quittance/contracts/api/payment.ts';
import { count, needed, option, paymentId, transactionId, word } from './field.ts';
import { callRow, ownRow } from './row.ts';
import {
  amount,
  badge,
  facts,
  shortTime,
  table,
  text,
  transactionOf,
  walletOf,
  words,
  type Action,
  type Candidates,
  type Value,
  type View,
} from './view.ts';

const transaction = word('transaction', transactionId, 'transaction id, with or without 0x');

export const acceptTransfer = ownRow('transfer accept', acceptance.AcceptTransfer.access, {
  audited: true,
  does: 'let a transfer pay a payment although it is too small, too large, late, a duplicate or ambiguous',
  more:
    'It is looked up on chain again, and need not be in the ledger: money that arrived when nobody watched the wallet is read from the chain. The payment becomes PAID for good, and its merchant gets one PAID event ' +
    'with `accepted`. A transfer that pays another payment cannot be accepted, nor one of exactly the amount of another payment that was ' +
    'waiting then, or had ended less than 24 hours before.',
  asks: true,
  fields: {
    transaction_id: transaction,
    transaction_event_index: word(
      'index',
      count,
      "position of the transfer's event in the transaction's receipt, from 0",
    ),
    payment_id: needed('--payment <payment>', paymentId, 'the payment that becomes PAID by it'),
    confirm_candidates: option(
      '--confirm-candidates <number>',
      count,
      'how many payments it may be for; needed with --yes or --json when there are several',
    ),
  },
  page: { path: '/payments/:payment_id/accept', label: 'Accept a transfer', back: '/payments/:payment_id' },
});

export const transferRows = [
  callRow('transfer where', LocateTransfers, {
    does: 'say what became of a transaction: by the ledger, and what the ledger does not have by every enabled network',
    more: '`unknown` is said only when every network has answered. Merchants get the same by API, and customers on the checkout page.',
    fields: { transaction_id: transaction },
    view: (located) => locatedView(located),
  }),
  acceptTransfer,
];

type TransferPlace = { transaction_id: string; transaction_event_index: number };

export const acceptFor = (
  { transaction_id, transaction_event_index: index }: TransferPlace,
  payment_id: string,
): Action => ({
  ...{ action: 'transfer accept', label: 'Accept' },
  values: { payment_id, transaction_id, index: String(index) },
});

/** Where the payment is chosen for which a transfer is accepted. */
const chooseFor = (transfer: TransferPlace): Action => ({ ...acceptFor(transfer, ''), label: 'Choose the payment' });

type Located = LocatedTransfers['transfers'][number];

/** Without a reason it pays its payment; a payment that another one pays takes no second. */
function acceptanceOf(located: Located, transaction_id: string): Action | null {
  const { payment_id, reason, state, transaction_event_index } = located;
  if (state === 'retracted' || (payment_id !== null && reason === null)) return null;
  const place = { transaction_id, transaction_event_index };
  return payment_id === null || reason === 'duplicate' ? chooseFor(place) : acceptFor(place, payment_id);
}

/** The sentence first, then what the ledger has, or what the chain showed. */
export function locatedView({ explanation, transfers, chain, transaction_id: id }: LocatedTransfers): View {
  if (transfers.length === 0 && chain !== null) return [text(explanation), ...chainView(chain, id)];
  return [
    text(explanation),
    table('ledger', transfers, {
      state: ({ state, waiting_for: waiting }) => ({
        first: badge(state),
        second: waiting && `waits for ${words(waiting)}`,
      }),
      amount: (found) => amount(found.amount),
      reason: ({ reason }) => reason && words(reason),
      payment: (found) => found.payment_id ?? candidatesOf(found),
      merchant: 'merchant_id',
      wallet: (found) => ({ first: walletOf(found), second: found.network }),
      'block time': 'block_timestamp',
      index: 'transaction_event_index',
      actions: (found) => acceptanceOf(found, id),
    }),
  ];
}

/** A transfer that is not in the ledger can be accepted too: it is looked up on chain again. */
function chainView(chain: LookedUp, transaction_id: string): View {
  if (chain.outcome !== 'mined')
    return [facts({ outcome: words(chain.outcome), ...('network' in chain && { network: chain.network }) }, 'chain')];
  return [
    facts(
      {
        network: chain.network,
        block: chain.block_number,
        'block time': chain.block_timestamp,
        scanned: chain.is_scanned,
        final: chain.is_final,
        ...(chain.other_recipients.length > 0 && { 'something else to': chain.other_recipients.join(', ') }),
      },
      'chain',
    ),
    table('transfers on chain', chain.transfers, {
      index: 'transaction_event_index',
      amount: ({ amount_units: units, decimals }) => amount(formatUnits(BigInt(units), decimals)),
      from: ({ from: hash }) => ({ hash, network: chain.network }),
      to: ({ to: hash }) => ({ hash, network: chain.network }),
      actions: ({ transaction_event_index }) => chooseFor({ transaction_id, transaction_event_index }),
    }),
  ];
}

/** None, one that is named as it is, or several. */
export const candidatesOf = ({ candidates, candidates_elsewhere: elsewhere = false }: Candidates): Value =>
  candidates.length === 0 && !elsewhere ? null : { candidates, candidates_elsewhere: elsewhere };

/**
 * Unmatched transfers, each with the payments that it may be for.
 * @param own what their merchant's people can do about each; null where operators read the list.
 */
export const unmatchedView = (
  { transfers }: UnmatchedPage,
  own: ((transfer: UnmatchedListed) => Value) | null = null,
): View => [
  table(
    'Unmatched transfers, newest first',
    transfers,
    {
      reason: ({ reason }) => badge(reason),
      received: ({ amount: received, related_payment: related }) => ({
        first: amount(received),
        second: related && ['of ', amount(related.amount)],
      }),
      payment: (transfer) => possiblePayments(transfer),
      ...(own === null && { merchant: 'merchant_id' as const }),
      'block time': ({ block_timestamp: time, network }) => ({ first: time, second: network }),
      'transaction, wallet': (transfer) => ({ first: transactionOf(transfer), second: walletOf(transfer) }),
      actions: own ?? acceptanceOfUnmatched,
    },
    'Every transfer pays a payment.',
  ),
  ...reasonsView(transfers),
];

function possiblePayments({ related_payment: related, ...transfer }: UnmatchedListed): Value {
  if (related === null || transfer.candidates_elsewhere) return candidatesOf(transfer);
  return [{ first: related.payment_id, second: related.order_id }, ' ', badge(related.status)];
}

/** A payment that is paid, or about to be, takes no other transfer. With several payments, a person has to choose one. */
const acceptanceOfUnmatched = ({ related_payment: related, ...transfer }: UnmatchedListed): Action =>
  related === null || related.status === 'PAID' || related.status === 'CHECKING'
    ? chooseFor(transfer)
    : acceptFor(transfer, related.payment_id);

type Reason = UnmatchedOnWallet['reason'] | UnmatchedTransfer['reason'];

/** For a shop owner: what happened, and what to do. A reason without a row here does not compile. */
export const reasonMeanings: Record<Reason, string> = {
  underpaid: 'Less arrived than the payment asks for. Accept it if that is enough, or return it.',
  overpaid: 'More arrived than the payment asks for. Accept it, and return the difference.',
  late: 'It arrived after the payment had expired. Accept it if you still deliver the order, or return it.',
  after_cancel:
    'It arrived after the payment was cancelled. Accept it if you deliver the order after all, or return it.',
  duplicate: 'Another transfer had already paid the payment. Ask the customer whether the money was sent twice.',
  ambiguous:
    'It is the exact amount of several payments, and any of their customers may have sent it. Ask them for the transaction ID before you accept it for one of them.',
  paid_another:
    'It arrived soon after this payment ended, and paid a later payment of the same amount. If this customer says that they sent it, compare the transaction ID with theirs.',
  unconfirmed: 'It is not confirmed yet. It pays its payment when it is.',
  no_payment: 'No payment was waiting at this address.',
};

/** What those of the reasons mean that a list has; nothing under an empty list. */
export function reasonsView(transfers: readonly { reason: Reason }[]): View {
  const shown = [...new Set(transfers.map(({ reason }) => reason))].sort();
  if (shown.length === 0) return [];
  const fields = shown.map((reason) => [words(reason), reasonMeanings[reason]] as const);
  return [facts(Object.fromEntries(fields), 'What the reasons mean')];
}

/**
 * How many payments a transfer may be for, before somebody accepts it for one of them.
 * @param of each of those payments.
 */
export function howManyText(received: string, of: readonly Pick<Payment, 'amount'>[]): string {
  const isSame = of.every(({ amount: asked }) => decimalOf(asked) === decimalOf(received));
  return isSame ? `${of.length} payments had this amount` : `This transfer may be for ${of.length} payments`;
}

/** 5.50 and 5.5 are one amount. */
const decimalOf = (digits: string): string => (digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits);

/** It shows both amounts, the reason and all payments that are possible, so that the operator who confirms has seen them. */
export function acceptQuestion(candidate: acceptance.AcceptanceCandidate): string {
  const { payment_id: id, candidates } = candidate;
  const question = acceptOneQuestion(candidate);
  if (candidates.length <= 1) return question;
  return `This transfer may be for ${candidates.length} payments: ${candidates.join(', ')}; is it for ${id}? ${question}`;
}

/** The same, where the payments that are possible are shown next to it. */
export function acceptOneQuestion(candidate: acceptance.AcceptanceCandidate): string {
  const { payment_id: id, status, expected_amount, amount, unmatched_reason, block_timestamp } = candidate;
  const reason = unmatched_reason === null ? 'no reason against it' : words(unmatched_reason);
  const transfer = `the transfer of ${amount} USDT (${reason}, ${shortTime(block_timestamp)})`;
  return `Accept ${transfer} for ${id}, which is ${status} and asks for ${expected_amount} USDT? It becomes PAID for good.`;
}

export const acceptanceView = (accepted: acceptance.Acceptance): View => [
  facts({
    payment: accepted.payment_id,
    merchant: accepted.merchant_id,
    status: `${accepted.status}, ${accepted.status_before} before`,
    'asked for': `${accepted.expected_amount} USDT`,
    accepted: `${accepted.amount} USDT, ${accepted.unmatched_reason === null ? 'no reason against it' : words(accepted.unmatched_reason)}`,
    transaction: accepted.transaction_id,
    index: String(accepted.transaction_event_index),
    network: accepted.network,
    'block time': accepted.block_timestamp,
    confirmations: String(accepted.confirmations),
    who: accepted.actor,
    why: accepted.reason,
    when: accepted.accepted_at,
  }),
];
