import type { UnmatchedPlace } from '@quittance/contracts/http/payments/unmatched.ts';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { merchantsConcernedSql, paysNothingSql } from '../settlement/transfer.sql.ts';
import { type UnmatchedOnWalletRow, unmatchedOnWalletColumns } from '../payment/view.sql.ts';

export type UnmatchedRow = UnmatchedOnWalletRow & {
  recipient: string;
  related_payment: Pick<Payment, 'payment_id' | 'status' | 'amount' | 'order_id'> | null;
};

type Page = { rows: UnmatchedRow[]; next: UnmatchedPlace | null };

const PAGE = 50;

/**
 * The merchants that a transfer concerns are in other tables, so a merchant's transfers are searched among all: one page reads up to this
 * many.
 */
const LOOKED_THROUGH = 5_000;

/** The order of the index. */
const key = 'block_timestamp, transaction_id, transaction_event_index, network';
const newestFirst = key.replace(/\w+/g, 't.$& desc');

/**
 * Unmatched transfers, newest first, a page at a time. The cost of a page is bounded, however many there are.
 * @param merchantId null for all merchants.
 */
export async function listUnmatched(
  db: Queryable,
  merchantId: string | null,
  after: UnmatchedPlace | null,
): Promise<Page> {
  const end = merchantId === null ? null : await endOfLook(db, after);
  const values: unknown[] = [];
  const value = (given: unknown): string => `$${values.push(given)}`;
  const conditions = [
    paysNothingSql,
    ...(after === null ? [] : [`(${key}) < (${placeOf(after).map(value).join(', ')})`]),
    ...(end === null ? [] : [`(${key}) >= (${placeOf(end).map(value).join(', ')})`]),
    ...(merchantId === null ? [] : [`${value(merchantId)} = any (${merchantsConcernedSql('t')})`]),
  ];
  const { rows } = await db.query<UnmatchedRow>(
    `select ${unmatchedOnWalletColumns('t')}, t.recipient,
            (select jsonb_build_object('payment_id', p.payment_id, 'status', p.status, 'amount', p.amount, 'order_id', p.order_id)
               from payment p where p.payment_id = t.related_payment_id) as related_payment
       from (select t.* from transfer t where ${conditions.join(' and ')} order by ${newestFirst} limit ${PAGE + 1}) t
      order by ${newestFirst}`,
    values,
  );
  const last = rows[PAGE - 1];
  return rows.length > PAGE && last !== undefined
    ? { rows: rows.slice(0, PAGE), next: toPlace(last) }
    : { rows, next: end };
}

/**
 * The moment at which the search for a page ends, before any transfer of that moment. It is a moment and not a transfer, because merchants
 * see this value and the transfer found there may be another merchant's.
 * @returns null when the list ends before.
 */
async function endOfLook(db: Queryable, after: UnmatchedPlace | null): Promise<UnmatchedPlace | null> {
  const { rows } = await db.query<{ block_timestamp: Date }>(
    `select block_timestamp from transfer t where ${paysNothingSql} ${after === null ? '' : `and (${key}) < ($1, $2, $3, $4)`}
      order by ${newestFirst} offset ${LOOKED_THROUGH - 1} limit 1`,
    after === null ? [] : placeOf(after),
  );
  return rows[0] === undefined ? null : { blockTimestamp: rows[0].block_timestamp, ...nothingInIt };
}

/** Sorts before every transfer of its moment. */
const nothingInIt = { transactionId: '0'.repeat(64), index: 0, network: '-' };

const placeOf = ({ blockTimestamp, transactionId, index, network }: UnmatchedPlace): unknown[] => [
  blockTimestamp,
  transactionId,
  index,
  network,
];

const toPlace = (row: UnmatchedOnWalletRow): UnmatchedPlace => ({
  blockTimestamp: row.block_timestamp,
  transactionId: row.transaction_id,
  index: row.transaction_event_index,
  network: row.network,
});
