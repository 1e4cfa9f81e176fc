import type { Author } from '@quittance/contracts/author.ts';
import { ARCHIVE_AFTER_DAYS, type ArchivablePayment } from '@quittance/contracts/http/payments/archive.ts';
import { earliestId } from '@quittance/contracts/ids.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';

/** The number of payments that one page reads, whether or not they can be archived. */
const PAGE = 200;
const DAY_MS = 86_400_000;

/**
 * Payments `p` that ended before a time, have nothing open, and have not changed since. A payment with a manual cancellation, an accepted
 * transfer or an incident stays, together with that record.
 */
const isOverSql = (before: string): string => `
  p.status in ('PAID', 'EXPIRED', 'CANCELLED') and greatest(p.created_at, p.expires_at, p.paid_at, p.cancelled_at) < ${before}
  and not exists (select from transfer_acceptance where payment_id = p.payment_id)
  and not exists (select from payment_cancellation where payment_id = p.payment_id)
  and not exists (select from incident where payment_id = p.payment_id)
  and not exists (select from transfer where payment_id = p.payment_id and (phase <> 'confirmed' or observed_at >= ${before}))
  and not exists (select from transfer where related_payment_id = p.payment_id
                     and (phase = 'seen' or (match_status = 'pending' and not counted) or observed_at >= ${before}))
  and not exists (select from transfer where candidates @> array[p.payment_id] and (phase = 'seen' or observed_at >= ${before}))`;

/**
 * The record of a payment `p` and its hash. It leaves out the link's token, which is a secret, and columns that only the expiry loop reads.
 */
const recordSql = `
  select record, encode(sha256(convert_to(record::text, 'UTF8')), 'hex') as sha256
    from (select jsonb_build_object(
            'payment', to_jsonb(p) - array['public_token', 'expiry_check_at', 'expiry_failures']
                         || jsonb_build_object('amount_units', p.amount_units::text),
            'transfers', (
              select coalesce(jsonb_agg(to_jsonb(t) || jsonb_build_object('amount_units', t.amount_units::text)
                                        order by t.network, t.transaction_id, t.transaction_event_index), '[]')
                from (select * from transfer where payment_id = p.payment_id
                      union all
                      select * from transfer where related_payment_id = p.payment_id
                      union all
                      select * from transfer where candidates @> array[p.payment_id]) t)) as record) written`;

/**
 * @param after the id after which the page begins; '' for the first page.
 * @returns the payments of the page that can be archived, in the order of their ids, which is the order of time; and where the next page
 *   begins.
 */
export async function readArchivable(
  db: Queryable,
  { before, after }: { before: Date; after: string },
): Promise<{ payments: ArchivablePayment[]; next: string | null }> {
  // An id begins with its creation time, by the clock of the process that made it.
  const end = earliestId('pay', new Date(before.getTime() + DAY_MS));
  const { rows } = await db.query<ArchivablePayment | { payment_id: string; record: null; sha256: null }>(
    `with page as materialized (
       select * from payment where payment_id > $1 and payment_id < $2 order by payment_id limit ${PAGE})
     select p.payment_id, found.record, found.sha256
       from page p left join lateral (${recordSql}) found on ${isOverSql('$3')}
      order by p.payment_id`,
    [after, end, before],
  );
  return {
    payments: rows.filter((row) => row.record !== null),
    next: rows.length === PAGE ? (rows.at(-1)?.payment_id ?? null) : null,
  };
}

/**
 * Removes the payments that can still be archived and have this hash. Their amounts are added to the daily totals of their merchants, so
 * reports and counters don't change. Their transfers stay as well, as transfers of the payment's merchant.
 * @returns which of the others are still here: locked by another transaction, or changed.
 */
export async function removeArchived(
  tx: Transaction,
  payments: readonly Pick<ArchivablePayment, 'payment_id' | 'sha256'>[],
  author: Author,
): Promise<{ removed: number; kept: string[] }> {
  const ids = payments.map(({ payment_id: id }) => id);
  const { rows: locked } = await tx.query<{ payment_id: string }>(
    'select payment_id from payment where payment_id = any($1) order by payment_id for update skip locked',
    [ids],
  );
  // A new statement, which sees what the holders of the locks have written.
  const { rows: unchanged } = await tx.query<{ payment_id: string }>(
    `select p.payment_id
       from unnest($1::text[], $2::text[]) as wanted (payment_id, sha256)
       join payment p using (payment_id) cross join lateral (${recordSql}) found
      where p.payment_id = any($3) and found.sha256 = wanted.sha256
        and ${isOverSql(`now() - interval '${ARCHIVE_AFTER_DAYS} days'`)}`,
    [ids, payments.map(({ sha256 }) => sha256), locked.map(({ payment_id: id }) => id)],
  );
  const going = unchanged.map(({ payment_id: id }) => id);
  if (going.length > 0) {
    await tx.query(
      `update transfer t set merchant_id = p.merchant_id from payment p
        where (t.payment_id = any($1) or t.related_payment_id = any($1))
          and p.payment_id = coalesce(t.payment_id, t.related_payment_id) and p.merchant_id <> t.merchant_id`,
      [going],
    );
    await tx.query(removal, [going]);
    await tx.query(
      'insert into archive_removal (payments, actor, reason, removed_at) values ($1, $2, $3, clock_timestamp())',
      [going.length, author.actor, author.reason],
    );
  }
  const { rows: kept } = await tx.query<{ payment_id: string }>(
    'select payment_id from payment where payment_id = any($1) order by payment_id',
    [ids],
  );
  return { removed: going.length, kept: kept.map(({ payment_id: id }) => id) };
}

/** Days are written in one order, so that two removals don't deadlock. */
const removal = `
  with gone as (
    delete from payment where payment_id = any($1)
    returning merchant_id, network, coalesce(paid_units, amount_units) as amount_units, status, created_at, price,
              case status when 'PAID' then paid_at when 'EXPIRED' then expires_at else cancelled_at end as closed_at
  ), happened as (
    select merchant_id, network, created_at as at, 1 as created, 0 as paid, 0::numeric as paid_units, 0 as expired, 0 as cancelled from gone
    union all
    select merchant_id, network, closed_at, 0, (status = 'PAID')::integer, case when status = 'PAID' then amount_units else 0 end,
           (status = 'EXPIRED')::integer, (status = 'CANCELLED')::integer from gone
  ), priced as (
    insert into archived_price as known (merchant_id, network, day, currency, paid_price)
    select merchant_id, network, (closed_at at time zone 'UTC')::date, price ->> 'currency', sum((price ->> 'amount')::numeric)
      from gone where status = 'PAID' and price is not null group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (merchant_id, network, day, currency) do update set paid_price = known.paid_price + excluded.paid_price)
  insert into archived_day as known (merchant_id, network, day, created, paid, paid_units, expired, cancelled)
  select merchant_id, network, (at at time zone 'UTC')::date, sum(created), sum(paid), sum(paid_units), sum(expired), sum(cancelled)
    from happened group by 1, 2, 3 order by 1, 2, 3
  on conflict (merchant_id, network, day) do update
     set created = known.created + excluded.created, paid = known.paid + excluded.paid,
         paid_units = known.paid_units + excluded.paid_units, expired = known.expired + excluded.expired,
         cancelled = known.cancelled + excluded.cancelled`;
