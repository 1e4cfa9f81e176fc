import type { Cursor } from '@quittance/contracts/http/payments/payments.ts';
import { parseAmount } from '@quittance/contracts/amount.ts';
import { paymentStatuses, type PaymentStatus } from '@quittance/contracts/api/payment.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { detailColumns, type DetailsRow } from './view.sql.ts';

/** The conditions for a payment to be listed; null matches all. The first of two times is included and the second is not. */
export type ListFilter = {
  status: PaymentStatus | null;
  createdFrom: Date | null;
  createdTo: Date | null;
  paidFrom: Date | null;
  paidTo: Date | null;
  orderId: string | null;
  /** The last 10 digits of the id; see parseReference(). */
  idEnd: string | null;
  /** 64 lowercase hex characters. */
  transactionId: string | null;
  /** Canonical address. */
  recipient: string | null;
  network: string | null;
  /** A part of the description in any case, the beginning of the order id, or an amount. */
  text: string | null;
  /** In millionths of a USDT, both included. */
  amountMin: bigint | null;
  amountMax: bigint | null;
};

/** A part of a list, after a given payment. */
type ListPart = { after: Cursor | null; limit: number; order: 'newest first' | 'oldest first' };

/** A query for a merchant's payments. `networks` are all networks that exist. */
type ListQuery = { networks: readonly string[]; filter: ListFilter; part: ListPart };

/** Matches every payment. */
export const anything: ListFilter = {
  status: null,
  createdFrom: null,
  createdTo: null,
  paidFrom: null,
  paidTo: null,
  orderId: null,
  idEnd: null,
  transactionId: null,
  recipient: null,
  network: null,
  text: null,
  amountMin: null,
  amountMax: null,
};

/** Reads the first payment of the table. */
export const anyPayment: ListQuery = {
  networks: [],
  filter: anything,
  part: { after: null, limit: 1, order: 'newest first' },
};

/**
 * A merchant's payments with their transfers, in the order of their creation. With any filter, nearly every row that is read is in the
 * list, so it costs the same with a hundred payments as with a million (ADR 0035). Pages use keysets, not offsets: part N costs what part 1
 * costs, and a payment created in between shifts nothing.
 * @returns the rows, and where the next part begins; null on the last one.
 */
export async function listPayments(
  db: Queryable,
  merchantId: string,
  { networks, filter, part }: ListQuery,
): Promise<{ payments: DetailsRow[]; next: Cursor | null }> {
  const values: unknown[] = [];
  const context = { merchantId, networks, filter, part, value: (value: unknown) => `$${values.push(value)}` };
  const text = `
    select ${detailColumns}
      from (${sourceOf(context)}) p
      left join transfer t on t.payment_id = p.payment_id
     order by ${inOrder(part, 'p.')}`;
  const { rows } = await db.query<DetailsRow>(text, values);
  const payments = rows.slice(0, part.limit);
  const last = payments.at(-1);
  const hasNext = rows.length > payments.length && last !== undefined;
  return { payments, next: hasNext ? { createdAt: last.created_at, paymentId: last.payment_id } : null };
}

/** Whether no index answers the filter: an order, a reference and a transaction have few payments, whatever else it says. */
export const isSearch = ({ text, amountMin, amountMax, orderId, idEnd, transactionId }: ListFilter): boolean =>
  (text !== null || amountMin !== null || amountMax !== null) &&
  orderId === null &&
  idEnd === null &&
  transactionId === null;

type Context = {
  merchantId: string;
  networks: readonly string[];
  filter: ListFilter;
  part: ListPart;
  /** Adds a parameter. @returns its name in the statement. */
  value: (value: unknown) => string;
};

function sourceOf(context: Context): string {
  const { orderId, idEnd, transactionId, paidFrom, paidTo } = context.filter;
  if (transactionId !== null || idEnd !== null) return ofTransactionOrReference(context);
  // An order has few payments, whatever else the filter says.
  if (orderId !== null) return partOf('payment', context);
  if (paidFrom !== null || paidTo !== null) return paid(context);
  return byIndex(context);
}

/** The first rows of a table that match the filter, and one more, which shows whether there is a next part. */
const partOf = (table: string, context: Context, more: readonly string[] = []): string => `
  select * from ${table} where ${[...conditionsOf(context), ...more].join(' and ')}
   order by ${inOrder(context.part)} limit ${context.value(context.part.limit + 1)}`;

/**
 * A transaction pays few payments, and hardly any two share a reference. All are read, so that the planner does not scan in list order to
 * find them.
 */
function ofTransactionOrReference(context: Context): string {
  const { filter, networks, value } = context;
  const found =
    filter.transactionId === null
      ? `right(payment_id, 10) = ${value(filter.idEnd)}`
      : `payment_id in (
           select payment_id from transfer
            where network = any(${value(networks)}) and transaction_id = ${value(filter.transactionId)})`;
  return `with found as materialized (select * from payment where ${found}) ${partOf('found', context)}`;
}

/**
 * Every index ends with the order of creation, and each of these queries uses both parts: no status, or one; one wallet, or one network, or
 * both, and one status. A wallet, network or status that is not given is queried value by value.
 */
function byIndex(context: Context): string {
  const { filter, networks, value } = context;
  if (filter.recipient === null && filter.network === null) return partOf('payment', context);
  const ways = `unnest(${value(filter.network === null ? networks : [filter.network])}::text[]) as on_network (id),
    unnest(${value(filter.status === null ? paymentStatuses : [filter.status])}::text[]) as in_status (name)`;
  const row = partOf('payment', context, ['network = on_network.id', 'status = in_status.name']);
  return first(`select found.* from ${ways}, lateral (${row}) found`, context);
}

/** Longer than a payment's window and the chain's finality together: hardly any payment is paid later after its creation. */
export const CLOSED_IN_TIME = '2 days';
const CLOSED_IN_TIME_MS = 2 * 86_400_000;

/**
 * Payments paid in a span were created up to two days before it began, with few exceptions, which have their own index. So the scan in the
 * order of creation is limited to that range.
 */
function paid(context: Context): string {
  const { filter } = context;
  if (filter.status !== null && filter.status !== 'PAID') return 'select * from payment where false';
  const inTime = filter.paidFrom && new Date(filter.paidFrom.getTime() - CLOSED_IN_TIME_MS);
  const soon = byIndex({
    ...context,
    filter: {
      ...filter,
      status: 'PAID',
      createdFrom: latest(filter.createdFrom, inTime),
      createdTo: earliest(filter.createdTo, filter.paidTo),
    },
  });
  if (inTime === null) return soon;
  const createdTo = earliest(filter.createdTo, inTime);
  const late = partOf('payment', { ...context, filter: { ...filter, createdTo } }, [closedLateSql]);
  return first(`select * from (${soon}) soon union all select * from (${late}) late`, context);
}

/** Written as in the partial index, which matches no other form. */
export const closedLateSql = `greatest(paid_at, cancelled_at) - created_at > interval '${CLOSED_IN_TIME}'`;

/** The first rows of several parts. */
const first = (rows: string, { part, value }: Context): string =>
  `select * from (${rows}) either order by ${inOrder(part)} limit ${value(part.limit + 1)}`;

const inOrder = ({ order }: ListPart, row = ''): string =>
  ['created_at', 'payment_id']
    .map((column) => `${row}${column} ${order === 'newest first' ? 'desc' : 'asc'}`)
    .join(', ');

const conditionsOf = ({ merchantId, filter, part, value }: Context): string[] => [
  `merchant_id = ${value(merchantId)}`,
  ...filterConditions(filter, value),
  ...(part.after === null
    ? []
    : [
        `(created_at, payment_id) ${part.order === 'newest first' ? '<' : '>'}
           (${value(part.after.createdAt)}, ${value(part.after.paymentId)})`,
      ]),
];

/** What a filter asks of a row of `payment`, except for the transaction. @param value adds a parameter and returns its name. */
export function filterConditions(filter: ListFilter, value: (value: unknown) => string): string[] {
  const where = (condition: string, given: unknown): string[] => (given === null ? [] : [condition + value(given)]);
  return [
    ...where('status = ', filter.status),
    ...where('created_at >= ', filter.createdFrom),
    ...where('created_at < ', filter.createdTo),
    ...where('paid_at >= ', filter.paidFrom),
    ...where('paid_at < ', filter.paidTo),
    ...where('order_id = ', filter.orderId),
    ...where('right(payment_id, 10) = ', filter.idEnd),
    ...where('recipient = ', filter.recipient),
    ...where('network = ', filter.network),
    ...where('amount_units >= ', filter.amountMin),
    ...where('amount_units <= ', filter.amountMax),
    ...(filter.text === null ? [] : [textCondition(filter.text, value)]),
  ];
}

/** No pattern: `%` and `_` mean themselves. */
function textCondition(text: string, value: (value: unknown) => string): string {
  const sought = `${value(text)}::text`;
  const units = parseAmount(text);
  const ways = [
    `strpos(lower(description), lower(${sought})) > 0`,
    `starts_with(order_id, ${sought})`,
    ...(units === null
      ? []
      : [`amount_units = ${value(units)}`, `requested_amount::numeric * 1000000 = ${value(units)}::numeric`]),
  ];
  return `(${ways.join(' or ')})`;
}

const latest = (one: Date | null, other: Date | null): Date | null =>
  one === null || other === null ? (one ?? other) : one > other ? one : other;

const earliest = (one: Date | null, other: Date | null): Date | null =>
  one === null || other === null ? (one ?? other) : one < other ? one : other;
