import type { ReportGroup, ReportTime } from '@quittance/contracts/http/payments/reports.ts';
import { earliestId } from '@quittance/contracts/ids.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { closedLateSql, CLOSED_IN_TIME } from '../payment/list.sql.ts';
import { isUnfinishedSql } from '../payment/payment.sql.ts';
import { paysNothingSql } from '../settlement/transfer.sql.ts';

/** What happened on one network in one period, or in all of them when there is no network. */
export type CountedRow = {
  /** `2026-01-31` or `2026-01`. */
  period: string;
  network: string;
  created: number;
  paid: number;
  /** Decimal text without trailing zeros. */
  paid_amount: string;
  expired: number;
  cancelled: number;
  /** The prices of the paid payments that have one: their sums by currency. */
  paid_prices: Record<string, string>;
};

/**
 * Where payments are read: a merchant's from an index that begins with the merchant, all payments by id, because ids begin with their
 * creation time.
 */
const ofMerchant = {
  payments: 'payment where merchant_id = $1',
  closedLate: 'payment where merchant_id = $1',
  own: (alias: string) => `${alias}.merchant_id = $1`,
};
const ofAll = {
  payments: 'payment where $1::text is null and payment_id >= $5 and payment_id < $6',
  closedLate: 'payment where $1::text is null',
  own: () => '$1::text is null',
};

const DAY_MS = 86_400_000;

/**
 * Ids of payments created up to CLOSED_IN_TIME before a span, or in it. A process's clock sets their time, so a day is added for its error.
 */
const idsOf = ({ from, to }: { from: Date; to: Date }): [string, string] => [
  earliestId('pay', new Date(from.getTime() - 3 * DAY_MS)),
  earliestId('pay', new Date(to.getTime() + DAY_MS)),
];

/** For a row of `payment` and its acceptance: when it was paid, and which of them can belong to the span. */
const times: Record<ReportTime, { paid: string; accepted: string; inSpan: string; arrived: string }> = {
  payment: {
    paid: 'paid_at',
    accepted: 'p.paid_at',
    inSpan: `a.accepted_at >= $2::timestamptz - interval '1 day' and a.accepted_at < $3::timestamptz + interval '1 day'`,
    arrived: 'paid_at >= $2 and paid_at < $3',
  },
  chain: {
    paid: 'coalesce((select t.block_timestamp from transfer t where t.payment_id = payment.payment_id), paid_at)',
    accepted: 'a.block_timestamp',
    inSpan: 'a.accepted_at >= $2 and a.block_timestamp >= $2 and a.block_timestamp < $3',
    // A block's clock may be ahead.
    arrived: `paid_at >= $2::timestamptz - interval '150 seconds'`,
  },
};

const formats: Record<ReportGroup, string> = { day: 'YYYY-MM-DD', month: 'YYYY-MM' };

/**
 * Counts a merchant's payments from the index alone (ADR 0035), or all payments. A payment paid by its exact amount received exactly that.
 * Accepted transfers are counted from the acceptances, and archived payments from the daily totals.
 * @param merchantId null for those of all merchants.
 * @param span from the beginning of the first day to the end of the last one.
 * @param by which time decides when a payment was paid. `chain` looks up each paid one in the ledger, except for archived ones: the archive
 *   only keeps the day of `paid_at`.
 * @param limit most rows.
 */
export async function countPayments(
  db: Queryable,
  merchantId: string | null,
  { from, to, group, by, limit }: { from: Date; to: Date; group: ReportGroup; by: ReportTime; limit: number },
): Promise<CountedRow[]> {
  const { payments, closedLate, own } = merchantId === null ? ofAll : ofMerchant;
  const { paid, accepted, inSpan, arrived } = times[by];
  const period = (time: string) => `to_char(${time}, '${formats[group]}')`;
  const { rows } = await db.query<CountedRow>(
    `with touched as (
       select * from (
         select created_at, status, network, amount_units, expires_at, ${paid} as paid_at, cancelled_at from ${payments}
            -- A block's clock may lag: its payment may have been created up to this much later.
            and created_at >= $2::timestamptz - interval '${CLOSED_IN_TIME}' and created_at < $3::timestamptz + interval '150 seconds'
         union all
         select created_at, status, network, amount_units, expires_at, ${paid} as paid_at, cancelled_at from ${closedLate}
            and created_at < $2::timestamptz - interval '${CLOSED_IN_TIME}' and ${closedLateSql}
       ) either),
     grouped as (
       select network, status, date_bin('1 day', created_at, 'epoch') as created_on, date_bin('1 day', paid_at, 'epoch') as paid_on,
              date_bin('1 day', case status when 'EXPIRED' then expires_at when 'CANCELLED' then cancelled_at end, 'epoch') as closed_on,
              count(*)::integer as payments, sum(amount_units) as units
         from touched group by 1, 2, 3, 4, 5),
     happened as (
       select network, created_on as day, payments as created, 0 as paid, 0::numeric as paid_units, 0 as expired, 0 as cancelled from grouped
       union all
       select network, paid_on, 0, payments, units, 0, 0 from grouped where status = 'PAID'
       union all
       select network, closed_on, 0, 0, 0, payments, 0 from grouped where status = 'EXPIRED'
       union all
       select network, closed_on, 0, 0, 0, 0, payments from grouped where status = 'CANCELLED'
       union all
       select network, day::timestamp at time zone 'UTC', created, paid, paid_units, expired, cancelled from archived_day
        where ${own('archived_day')} and day >= ($2::timestamptz at time zone 'UTC')::date and day < ($3::timestamptz at time zone 'UTC')::date
       union all
       -- The difference between the requested amount and the accepted transfer, in millionths.
       select p.network, date_bin('1 day', ${accepted}, 'epoch'), 0, 0, a.amount_units * ('1e' || 6 - a.decimals)::numeric - p.amount_units, 0, 0
         from transfer_acceptance a join payment p using (payment_id)
        where ${own('a')} and p.paid_units is null and ${inSpan}
       union all
       -- The difference between the requested amount and what had arrived at an address of the payment's own.
       select network, date_bin('1 day', ${paid}, 'epoch'), 0, 0, paid_units - amount_units, 0, 0
         from payment where ${own('payment')} and paid_units is not null and ${arrived}),
     counted as (
       select ${period('day')} as period, network, sum(created)::integer as created, sum(paid)::integer as paid,
              trim_scale(sum(paid_units) * 0.000001)::text as paid_amount, sum(expired)::integer as expired,
              sum(cancelled)::integer as cancelled
         from happened where day >= $2 and day < $3
        group by 1, 2 order by 1, 2 limit $4)
     select counted.*, coalesce(priced.sums, '{}') as paid_prices
       from counted left join (${merchantId === null ? NO_PRICES : pricesSql(by, period)}) priced using (period, network)
      order by period, network`,
    [merchantId, from, to, limit, ...(merchantId === null ? idsOf({ from, to }) : [])],
  );
  return rows;
}

/** Nobody reads them for all merchants. */
const NO_PRICES = 'select null as period, null as network, null::jsonb as sums';

/** What a merchant's customers paid in other currencies, from an index that has only those payments. */
const pricesSql = (by: ReportTime, period: (time: string) => string): string => `
  select period, network, jsonb_object_agg(currency, trim_scale(total)::text) as sums
    from (
      select ${period('day')} as period, network, currency, sum(paid_price) as total
        from (
          select network, date_bin('1 day', ${times[by].paid}, 'epoch') as day, price ->> 'currency' as currency,
                 (price ->> 'amount')::numeric as paid_price
            from payment where merchant_id = $1 and price is not null and paid_at is not null and ${times[by].arrived}
          union all
          select network, day::timestamp at time zone 'UTC', currency, paid_price
            from archived_price where merchant_id = $1) either
       where day >= $2 and day < $3
       group by 1, 2, 3) summed
   group by 1, 2`;

/** How many payments of all merchants are waiting, counted from a partial index that has only those. */
export async function countOpen(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ open: number }>(
    `select count(*)::integer as open from payment where ${isUnfinishedSql}`,
  );
  return rows[0]?.open ?? 0;
}

/**
 * Counts unmatched transfers by the day of their block, from the index that lists them.
 * @param span from the beginning of the first day to the end of the last one.
 * @returns a row for each day that has any.
 */
export async function countUnmatched(
  db: Queryable,
  { from, to }: { from: Date; to: Date },
): Promise<{ day: string; unmatched: number; late: number }[]> {
  const { rows } = await db.query<{ day: string; unmatched: number; late: number }>(
    `select to_char(date_bin('1 day', block_timestamp, 'epoch'), 'YYYY-MM-DD') as day, count(*)::integer as unmatched,
            (count(*) filter (where reason = 'late'))::integer as late
       from transfer where ${paysNothingSql} and block_timestamp >= $1 and block_timestamp < $2
      group by 1`,
    [from, to],
  );
  return rows;
}

/** Long enough for a busy process to extend it in time, and short enough that the merchant of a killed one does not wait long. */
const LEASE = '45 seconds';

/**
 * Takes a merchant's lease, on the database's clock.
 * @param holder a new UUID.
 * @returns the time since which it is held; or in how many seconds, at least 1, another holder's lease ends.
 */
export async function takeExportLease(
  db: Queryable,
  merchantId: string,
  holder: string,
): Promise<{ heldSince: Date } | { secondsLeft: number }> {
  const { rows } = await db.query<{ now: Date }>(
    `insert into export_lease as held (merchant_id, holder, ends_at)
     values ($1, $2, clock_timestamp() + interval '${LEASE}')
     on conflict (merchant_id) do update set holder = excluded.holder, ends_at = excluded.ends_at
      where held.ends_at <= clock_timestamp()
     returning clock_timestamp() as now`,
    [merchantId, holder],
  );
  if (rows[0] !== undefined) return { heldSince: rows[0].now };
  const { rows: others } = await db.query<{ seconds: number }>(
    `select greatest(1, ceil(extract(epoch from ends_at - clock_timestamp())))::integer as seconds
       from export_lease where merchant_id = $1`,
    [merchantId],
  );
  // It may have ended in the meantime.
  return { secondsLeft: others[0]?.seconds ?? 1 };
}

/** @returns false when it ended and another holder may have it. */
export async function extendExportLease(db: Queryable, merchantId: string, holder: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `update export_lease set ends_at = clock_timestamp() + interval '${LEASE}'
      where merchant_id = $1 and holder = $2`,
    [merchantId, holder],
  );
  return rowCount === 1;
}

export async function releaseExportLease(db: Queryable, merchantId: string, holder: string): Promise<void> {
  await db.query('delete from export_lease where merchant_id = $1 and holder = $2', [merchantId, holder]);
}
