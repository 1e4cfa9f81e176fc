import { type Cursor, type OwnPayment, SEARCHED_MAX } from '@quittance/contracts/http/payments/payments.ts';
import { earliestId } from '@quittance/contracts/ids.ts';
import type { Pool, Queryable } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { filterConditions, type ListFilter } from './list.sql.ts';
import { type DetailsRow, findDetails } from './view.sql.ts';

type SearchQuery = {
  /** Null for those of all merchants. */
  merchants: readonly string[] | null;
  filter: ListFilter;
  after: Cursor | null;
  limit: number;
};

export type SearchPage = {
  payments: DetailsRow[];
  /** Where the next page begins; null on the last one. */
  next: Cursor | null;
  /** When the last payment that was read had been created, if there are fewer payments than `limit` and there may be more; else null. */
  searchedTo: Date | null;
};

/**
 * Payments that match a filter which no index answers, newest first. It reads payments in the order of their creation until the page is
 * full, and stops after SEARCHED_MAX; the next page goes on from there. So each payment is read once over all pages, and a page costs the
 * same however many payments there are. A filter's status and times limit what is read.
 * @param most in a test, instead of SEARCHED_MAX.
 */
export async function searchPayments(pool: Pool, query: SearchQuery, most = SEARCHED_MAX): Promise<SearchPage> {
  const { rows } = await transaction(pool, async (tx) => {
    await tx.query(followIndexes);
    return tx.query<Read>(...statementOf(query, most));
  });
  const { found, next, isFull } = endOf(rows, query.limit);
  return { payments: await inOrder(pool, found), next, searchedTo: isFull || next === null ? null : next.createdAt };
}

/** By its estimates, the planner would often rather read and sort everything than so many rows in order. */
const followIndexes = ['sort', 'seqscan', 'bitmapscan'].map((way) => `set local enable_${way} = off`).join('; ');

type Read = {
  payment_id: string;
  merchant_id: string;
  created_at: Date;
  matches: boolean | null;
  /** Whether payments after it were not read. */
  is_last: boolean;
};

/** The first payments that match, and one more; before them the last that was read, where it stopped earlier. */
function statementOf(query: SearchQuery, most: number): [text: string, values: unknown[]] {
  const { merchants, filter, limit } = query;
  const values: unknown[] = [];
  const value = (given: unknown) => `$${values.push(given)}`;
  const conditions = filterConditions(filter, value);
  // Of several merchants, each gives an equal share. The newest of their ends is the end of what is complete.
  const share = Math.ceil(most / (merchants?.length ?? 1));
  const order = merchants === null ? 'payment_id desc' : 'created_at desc, payment_id desc';
  const ranges = merchants === null ? [rangeOfAll(query, value)] : merchants.map((id) => rangeOf(id, query, value));
  const parts = ranges.map(
    (range) => `
      (select *, row_number() over (order by ${order}) = ${share} as is_last
         from (select ${columns} from payment where ${range.join(' and ')} order by ${order} limit ${share}) one)`,
  );
  const text = `
    select * from (
      select payment_id, merchant_id, created_at, is_last, ${conditions.join(' and ') || 'true'} as matches
        from (${parts.join(' union all ')}) part) read
     where matches or is_last
     order by ${order} limit ${limit + 1}`;
  return [text, values];
}

/** What is read after the first end is read again by the next page. */
function endOf(rows: readonly Read[], limit: number): { found: Read[]; next: Cursor | null; isFull: boolean } {
  const end = rows.findIndex(({ is_last: isLast }) => isLast);
  const complete = end === -1 ? rows : rows.slice(0, end + 1);
  const matching = complete.filter(({ matches }) => matches);
  const found = matching.slice(0, limit);
  const last = matching.length > limit ? found.at(-1) : rows[end];
  const next = last === undefined ? null : { createdAt: last.created_at, paymentId: last.payment_id };
  return { found, next, isFull: found.length === limit };
}

/** What filters are about. */
const columns =
  'payment_id, merchant_id, created_at, status, network, recipient, amount_units, requested_amount, description, order_id, paid_at';

type Value = (given: unknown) => string;

/** A merchant's payments in the order of an index, with the status or without. */
const rangeOf = (merchantId: string, { filter, after }: SearchQuery, value: Value): string[] => [
  `merchant_id = ${value(merchantId)}`,
  ...(filter.status === null ? [] : [`status = ${value(filter.status)}`]),
  ...(filter.createdFrom === null ? [] : [`created_at >= ${value(filter.createdFrom)}`]),
  ...(filter.createdTo === null ? [] : [`created_at < ${value(filter.createdTo)}`]),
  ...(after === null ? [] : [`(created_at, payment_id) < (${value(after.createdAt)}, ${value(after.paymentId)})`]),
];

const DAY_MS = 86_400_000;

/** All payments in the order of their ids, which begin with the time of a process's clock: a day is added for its error. */
const rangeOfAll = ({ filter: { createdFrom, createdTo }, after }: SearchQuery, value: Value): string[] => [
  'true',
  ...(createdFrom === null
    ? []
    : [`payment_id >= ${value(earliestId('pay', new Date(createdFrom.getTime() - DAY_MS)))}`]),
  ...(createdTo === null ? [] : [`payment_id < ${value(earliestId('pay', new Date(createdTo.getTime() + DAY_MS)))}`]),
  ...(after === null ? [] : [`payment_id < ${value(after.paymentId)}`]),
];

/** @returns the payments as they are shown, in this order. */
async function inOrder(db: Queryable, found: readonly OwnPayment[]): Promise<DetailsRow[]> {
  if (found.length === 0) return [];
  const details = new Map((await findDetails(db, found)).map((row) => [row.payment_id, row]));
  return found.flatMap(({ payment_id: id }) => details.get(id) ?? []);
}
