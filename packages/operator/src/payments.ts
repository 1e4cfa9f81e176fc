import { FindPayments, paymentQueryOf, type FoundPayment } from '@quittance/contracts/http/payments/finding.ts';
import type { Author } from '@quittance/contracts/author.ts';
import { ListMerchants } from '@quittance/contracts/http/api-gateway/merchants.ts';
import { isId } from '@quittance/contracts/ids.ts';
import * as payments from '@quittance/contracts/http/payments/payments.ts';
import type { LedgerEntry, ListedPayment, OperatorsPayment } from '@quittance/contracts/http/payments/payments.ts';
import { paymentStatuses, type Payment, type PaymentWarning } from '@quittance/contracts/api/payment.ts';
import { anyText, choice, dayOrMoment, flag, option, paymentId, word, Wrong, type ValuesOf } from './field.ts';
import { callRow, type Services } from './row.ts';
import { acceptFor } from './transfers.ts';
import {
  amount,
  badge,
  facts,
  shortTime,
  table,
  tableIfAny,
  transactionOf,
  walletOf,
  words,
  type Columns,
  type Value,
  type View,
} from './view.ts';

const payment = word('payment', paymentId, 'payment id');

const listed = callRow('payment list', payments.ListAllPayments, {
  does: 'list payments, the newest fifty; with --csv all of one merchant, oldest first',
  more:
    `A payment is listed when it matches all options. One answer reads at most ${payments.SEARCHED_MAX.toLocaleString('en')} payments. Then it ` +
    'says how far back it looked and how to go on; with `--to` it starts further back. `payment find` needs no such limit. ' +
    'The CSV is the one that the merchant exports. One export runs at a time for a merchant; when it breaks off the exit code is 3 and what ' +
    'was printed is not all. An apostrophe keeps spreadsheets from running a cell as a formula: `GET /api/v1/payments/export` in ' +
    '[openapi.yaml](openapi.yaml) has the rule.',
  fields: {
    merchants: option(
      '--merchant <merchant>',
      anyText,
      `whose payments: a merchant id, or a part of the names of up to ${payments.LISTED_MERCHANTS_MAX} merchants`,
    ),
    text: option(
      '--text <text>',
      anyText,
      'a part of the description, the beginning of the order id, or the amount: 49.9 finds 49.90',
    ),
    status: choice('--status <status>', paymentStatuses, 'only these'),
    network: option('--network <network>', anyText, 'on this network'),
    amount_min: option('--min <amount>', anyText, 'of this amount or more'),
    amount_max: option('--max <amount>', anyText, 'of this amount or less'),
    created_from: option('--from <time>', dayOrMoment('start'), 'created at this UTC day or time, or later'),
    created_to: option('--to <time>', dayOrMoment('end'), 'created on this UTC day or before it, or before this time'),
    cursor: option('--cursor <cursor>', anyText, 'go on after the page before'),
    csv: flag('--csv', 'print all as CSV', { conflicts: ['text', 'network', 'min', 'max', 'cursor'] }),
  },
  given: ({ csv: _, ...query }) => ({ query }),
  view: ({ payments: found }) => [listedTable(found)],
  next: ({ next_cursor: next, searched_to: searchedTo }) =>
    next === null
      ? null
      : {
          options: { cursor: next },
          ...(searchedTo !== null && { of: `Searched back to ${shortTime(searchedTo)}` }),
        },
});

/** Names are looked up before the payments. */
export const listPayments = {
  ...listed,
  async send(services: Services, { merchants: sought, ...values }: ValuesOf<typeof listed.fields>, author: Author) {
    return listed.send(services, { ...values, merchants: sought && (await merchantsOf(services, sought)) }, author);
  },
};

/**
 * Merchant ids as ListAllPayments takes them.
 * @param sought an id, or a part of names. @throws Wrong when no merchant has it in its name, or too many have.
 */
export async function merchantsOf(services: Services, sought: string): Promise<string> {
  if (isId('mer', sought)) return sought;
  const { merchants } = await services.call(ListMerchants, { query: { name: sought } });
  if (merchants.length === 0) throw new Wrong('no merchant has this in its name.');
  if (merchants.length > payments.LISTED_MERCHANTS_MAX)
    throw new Wrong(`more than ${payments.LISTED_MERCHANTS_MAX} merchants have this in their names: give more of one.`);
  return merchants.map(({ merchant_id: id }) => id).join(',');
}

export const showPayment = callRow('payment show', payments.ReadPayment, {
  does: 'show everything known about a payment of any merchant: the transfer that pays it, unmatched transfers and incidents',
  more:
    '`waits for` is `finality` until the network calls the block final, or `second endpoint` until another node shows the transfer or its block: for large amounts, and on some networks for all. ' +
    '--json also has when chain-watcher first read each transfer (`first_seen_at`), and whether it read the network without a gap then (`live`).',
  fields: { payment_id: payment },
  view: (found) => paymentView(found),
});

export const cancelPayment = callRow('payment cancel', payments.CancelPaymentByOperator, {
  does: 'cancel a PENDING payment, as its merchant could; money from a block before the cancellation still pays it',
  asks: true,
  fields: { payment_id: payment },
  question:
    ({ payment_id }, services) =>
    async () => {
      const {
        merchant_id: owner,
        status,
        ...of
      } = await services.call(payments.ReadPayment, { params: { payment_id } });
      return `Cancel ${payment_id} of ${owner}, which is ${status} and asks for ${of.amount} ${of.currency}? Its page asks for no money any more. A transfer in an earlier block still pays it; a later one does not.`;
    },
  page: {
    path: '/payments/:payment_id/cancel',
    label: 'Cancel the payment',
    back: '/payments/:payment_id',
    isDanger: true,
  },
  view: ({ payment_id, status, cancelled_at }) => [
    facts({ payment: payment_id, status: badge(status), cancelled: cancelled_at }),
  ],
});

export const paymentRows = [
  callRow('payment find', FindPayments, {
    does: 'find payments of any merchant by whatever names them, the newest hundred',
    more: 'A transaction also finds the payments that its transfers may be for.',
    fields: {
      what: word(
        'what',
        anyText,
        'payment id, checkout link or its token, order id, reference, transaction id or wallet',
      ),
    },
    given: ({ what }) => {
      const query = paymentQueryOf(what.trim());
      if (query !== null) return { query };
      throw new Wrong(
        'expected a payment id, a checkout link, an order id, a reference, a transaction id or a wallet.',
      );
    },
    view: ({ payments: found }) => [foundTable(found)],
    note: ({ payments: [only, ...others] }) =>
      only !== undefined && others.length === 0 ? `To see everything about it: payment show ${only.payment_id}` : null,
  }),
  listPayments,
  showPayment,
  cancelPayment,
];

/** What people look for first. */
const listColumns: Columns<Payment> = {
  status: ({ status }) => badge(status),
  amount: (one) => amount(one.amount, one.currency),
  for: ({ description, order_id: order }) => ({ first: description, second: order }),
  network: 'network',
  created: 'created_at',
  paid: 'paid_at',
  payment: ({ payment_id: id, reference }) => ({ first: id, second: reference }),
};

/** The payments of one merchant. */
export const paymentsTable = (
  listed: readonly Payment[],
  title: string | null = null,
  empty = 'No payments. They are here as soon as they are created through the API.',
) => table(title, listed, listColumns, empty);

/** Payments of any merchants. */
export const listedTable = (found: readonly ListedPayment[], title: string | null = null) =>
  table(title, found, { ...listColumns, merchant: 'merchant_id' }, 'No payments.');

/** @param actions what may be done about each. */
export const foundTable = (
  listed: readonly FoundPayment[],
  title: string | null = null,
  actions?: (found: FoundPayment) => Value,
) =>
  table(
    title,
    listed,
    {
      status: ({ status }) => badge(status),
      amount: (one) => amount(one.amount, one.currency),
      for: ({ description, order_id: order }) => ({ first: description, second: order }),
      network: 'network',
      created: 'created_at',
      payment: ({ payment_id: id, reference }) => ({ first: id, second: reference }),
      merchant: 'merchant_id',
      ...(listed.some(({ found_by: by }) => by !== 'payment_id') && {
        'found by': ({ found_by: by }: FoundPayment) => words(by),
      }),
      ...(actions && { actions }),
    },
    'No payment was found. The whole text must be right, except that the case of a transaction id does not matter.',
  );

/** Whether a transfer on this network can be accepted for the payment. One that is paid, or about to be, takes no other. */
export const isOpenFor = ({ status, network }: Pick<Payment, 'status' | 'network'>, transfer: { network: string }) =>
  network === transfer.network && status !== 'PAID' && status !== 'CHECKING';

/** A warning without a row here does not compile. */
export const warningTexts: Record<PaymentWarning, { is: string; means: string }> = {
  wallet_blacklisted: {
    ...{ is: "the token's issuer has frozen this wallet", means: 'Money that arrives there cannot be moved.' },
  },
  network_unreadable: {
    is: 'the network cannot be read just now',
    means: 'Money that arrives is noticed when it can be read again.',
  },
};

export function paymentView(shown: OperatorsPayment): View {
  const { acceptance, cancellation, incidents, transfers } = shown;
  return [
    facts({
      payment: shown.payment_id,
      merchant: shown.merchant_id,
      status: badge(shown.status),
      amount: amount(shown.amount, shown.currency),
      ...priceFacts(shown),
      wallet: [walletOf(shown), ` on ${shown.network}`, shown.dedicated ? ', its own' : ''],
      ...(shown.received_amount !== null && { 'arrived there': amount(shown.received_amount, shown.currency) }),
      description: shown.description,
      ...(shown.order_id !== null && { order: shown.order_id }),
      reference: shown.reference,
      ...(shown.warnings.length > 0 && { warnings: shown.warnings.map((one) => warningTexts[one].is).join('; ') }),
      created: shown.created_at,
      expires: shown.expires_at,
      ...(shown.transaction?.waiting_for && { 'waits for': words(shown.transaction.waiting_for) }),
      ...(shown.paid_at !== null && { paid: shown.paid_at }),
      ...(shown.cancelled_at !== null && {
        cancelled: cancellation
          ? `${shortTime(shown.cancelled_at)} by ${cancellation.actor}: ${cancellation.reason}`
          : shown.cancelled_at,
      }),
      ...(acceptance !== null && {
        accepted: `${shortTime(acceptance.accepted_at)} by ${acceptance.actor}: ${acceptance.reason}`,
      }),
      link: shown.payment_url,
    }),
    table('transfers', transfers, {
      phase: ({ phase }) => badge(phase),
      amount: (transfer) => amount(transfer.amount),
      'block time': 'block_timestamp',
      transaction: ({ transaction_id: hash }) => ({ hash, network: shown.network }),
      index: 'transaction_event_index',
      confirmations: ({ confirmations, confirmations_required: required }) => `${confirmations} of ${required}`,
      pays: (transfer) => paysValue(transfer, shown.payment_id),
      actions: (transfer) =>
        shown.status === 'PAID' || transfer.payment_id !== null ? null : acceptFor(transfer, shown.payment_id),
    }),
    // The payment and its merchant are shown above.
    ...tableIfAny('incidents', incidents, {
      kind: ({ kind }) => words(kind),
      opened: 'opened_at',
      resolved: 'resolved_at',
      by: 'resolved_by',
      why: 'resolved_reason',
      transaction: transactionOf,
      index: 'transaction_event_index',
      incident: ({ incident_id: id }) => ({ to: `/incidents/payment/${id}`, label: id }),
    }),
  ];
}

/** The price in another currency, and the rate that converted it with its sources. */
export const priceFacts = ({ price, rate }: Pick<Payment, 'price' | 'rate'>) =>
  price === null || rate === null
    ? {}
    : {
        price: `${price.amount} ${price.currency}, at ${rate.value}`,
        'rate from': rate.sources.map(({ name, value, as_of: time }) => `${name} ${value} (${time})`).join(', '),
      };

function paysValue(transfer: LedgerEntry, paymentId: string): Value {
  const { payment_id, candidates } = transfer;
  const why = paysText(transfer, paymentId);
  return payment_id === null && candidates.length > 1 ? [why, ', ', { candidates }] : why;
}

export function paysText({ payment_id, reason }: LedgerEntry, paymentId: string): string {
  if (payment_id !== null) return payment_id === paymentId ? 'this payment' : payment_id;
  // Without a reason against it, it still has to be confirmed or decided about.
  return reason === null ? 'nothing yet' : `nothing: ${words(reason)}`;
}
