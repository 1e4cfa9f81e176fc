import {
  CHECK_GRACE_SECONDS,
  CHECKED_AT_ONCE,
  type Violation,
  type CheckedPayment,
  type CreatedPayments,
  type ToldTransfer,
} from '@quittance/contracts/http/check.ts';
import { PARTS_MAX } from '@quittance/contracts/api/payment.ts';
import { findBroken } from '@quittance/postgres/broken-rules.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { lostFromSql } from '../wallets/wallet.sql.ts';

/** Counting payments reads at most this many index entries in one query, or all those of a single merchant. */
const COUNTED_AT_ONCE = 500_000;

/** The rules of payments that have their address for themselves. */
const ownAddressRules = (inScope: (alias: string) => string): Record<string, string> => ({
  'I2 an address of its own has one unfinished payment': `
    select format('%s %s has %s', network, recipient, string_agg(payment_id, ', ')) as what
      from payment where status in ('PENDING', 'CHECKING') and (network, recipient) in (
        select network, recipient from payment p where status in ('PENDING', 'CHECKING') and rest_seconds is not null and ${inScope('p')})
     group by network, recipient having count(*) > 1`,
  'I1 an address of its own is paid when enough has arrived': `
    select format('%s is %s, and %s of %s has arrived in time', p.payment_id, p.status, part.units, p.amount_units) as what
      from payment p cross join lateral (
        select coalesce(sum(t.amount_units * ('1e' || 6 - t.decimals)::numeric), 0) as units
          from transfer t
         where (t.payment_id = p.payment_id or (t.related_payment_id = p.payment_id and (t.counted or t.reason is null or t.reason = 'underpaid')))
           and t.phase = 'confirmed' and t.version > 0
           and t.observed_at < now() - interval '${CHECK_GRACE_SECONDS} seconds') part
     where ${inScope('p')} and p.rest_seconds is not null and p.status <> 'PAID'
       and part.units >= p.amount_units * coalesce(p.accept_from_percent, 100) * 0.01`,
});

/**
 * Rules that payments must never break, in SQL; each query returns the violations as text. Each is one statement, so that it sees a moment
 * between transactions.
 * @param inScope the condition for a row of this alias, on `payment_id` or `merchant_id`; $1 is its parameter.
 */
export const paymentRules = (inScope: (alias: string) => string): Record<string, string> => ({
  'I1 a payment is paid by one transfer': `
    select format('%s is paid by %s transfers', payment_id, count(*)) as what
      from transfer t where payment_id is not null and ${inScope('t')} group by payment_id having count(*) > 1`,
  'I1 status and transfer agree': `
    select format('%s is %s with %s', p.payment_id, p.status, coalesce(t.phase || ' transfer', 'no transfer')) as what
      from payment p left join transfer t on t.payment_id = p.payment_id
     where ${inScope('p')} and case p.status when 'PAID' then t.payment_id is null
                                             when 'CHECKING' then t.phase is distinct from 'seen' and t.phase is distinct from 'confirmed'
                                             else t.payment_id is not null end`,
  'I2 a slot has one unfinished payment': `
    select format('%s %s %s has %s', network, recipient, amount_units, string_agg(payment_id, ', ')) as what
      from payment where status in ('PENDING', 'CHECKING') and (network, recipient, amount_units) in (
        select network, recipient, amount_units from payment p where status in ('PENDING', 'CHECKING') and ${inScope('p')})
     group by network, recipient, amount_units having count(*) > 1`,
  ...ownAddressRules(inScope),
  'I3 nobody creates uncounted': `
    select format('%s of %s, which has no gate', payment_id, merchant_id) as what
      from payment p where ${inScope('p')} and not exists (select from gate where merchant_id = p.merchant_id)`,
  'I18 money that was known before the payment does not pay it': `
    select format('%s of %s is PAID with %s, known since %s', p.payment_id, p.created_at, t.transaction_id, t.first_seen_at) as what
      from payment p join transfer t on t.payment_id = p.payment_id
     where ${inScope('p')} and p.status = 'PAID' and t.first_seen_at < p.created_at
       and not exists (select from transfer_acceptance a where a.payment_id = p.payment_id)`,
  // Only transfers that were recorded some time ago are checked. Whether a transfer pays is decided when its message is handled, and
  // again before the payment expires. When the payment did not exist at the message, that is the first decision: if the clocks differ,
  // the transfer may still have come in time. TypeScript decides about money at the edge of the window and money that may be for several
  // payments; in the inner part of the window there is no doubt.
  'money of the exact amount that came in time pays': `
    select format('%s is %s, and %s of %s pays nothing', p.payment_id, p.status, t.transaction_id, t.block_timestamp) as what
      from payment p join transfer t
        on t.network = p.network and t.recipient = p.recipient and t.match_status in ('pending', 'unmatched')
       and t.block_timestamp >= p.created_at
       and t.block_timestamp < least(p.expires_at, p.cancelled_at - interval '1 second')
       and t.reason is distinct from 'ambiguous' and t.sender <> t.recipient
       -- A transfer that only an acceptance has recorded waits for a person.
       and t.version > 0
       -- When the chain's clock is ahead, the transfer was made before its block's time.
       and coalesce(t.first_seen_at, t.observed_at) >= t.block_timestamp
     where ${inScope('p')} and p.status in ('PENDING', 'EXPIRED', 'CANCELLED') and p.rest_seconds is null and t.phase = 'confirmed'
       and t.amount_units = p.amount_units * ('1e' || t.decimals - 6)::numeric
       and t.observed_at < now() - interval '${CHECK_GRACE_SECONDS} seconds'
       and (p.status <> 'PENDING' or t.observed_at >= p.created_at)
       and coalesce(t.first_seen_at, t.observed_at) >= p.created_at
       and coalesce(t.block_timestamp < ${lostFromSql('p')}, true)
       -- Money for several payments of one order belongs to the newest one, or is its duplicate if that one has other money.
       and not exists (select from payment other
                        where other.payment_id = t.related_payment_id and other.payment_id <> p.payment_id
                          and other.merchant_id = p.merchant_id and other.order_id = p.order_id)
       and not exists (select from payment newer
                        where newer.network = p.network and newer.recipient = p.recipient and newer.amount_units = p.amount_units
                          and newer.created_at > p.created_at and newer.created_at < t.block_timestamp + interval '1 second')`,
});

/** Like paymentRules(), for merchants' counters; on `merchant_id` alone. */
export const counterRules = (inScope: (alias: string) => string): Record<string, string> => ({
  'I3 counters are the payments, counted': `
    select format('%s: %s ever and %s on %s, counted %s and %s', g.merchant_id, g.used_lifetime, g.used_today, g.used_day,
                  p.ever, p.that_day) as what
      from gate g
      cross join lateral (
        select coalesce(sum(created), 0) as ever, max(day) as newest, coalesce(sum(created) filter (where day = g.used_day), 0) as that_day
          from (select (created_at at time zone 'UTC')::date as day, count(*) as created
                  from payment where merchant_id = g.merchant_id group by 1
                union all
                select day, created from archived_day where merchant_id = g.merchant_id and created > 0) days) p
     where ${inScope('g')}
       and (g.used_lifetime <> p.ever or g.used_today <> p.that_day or g.used_day is distinct from p.newest)`,
});

type PageRow = Pick<CheckedPayment, 'payment_id' | 'state'> & {
  network: string | null;
  transaction_id: string;
  transaction_event_index: number;
  accepted: boolean;
};

/** @param after the id after which the page begins. See CheckPayments. */
export async function checkPayments(
  db: Queryable,
  { after }: { after: string },
): Promise<{ read_at: string; payments: CheckedPayment[]; violations: Violation[]; next: string | null }> {
  const { rows: clock } = await db.query<{ now: Date }>('select clock_timestamp() as now');
  // Messages in the outbox have not been sent yet. They leave it in order, except for refused ones.
  const { rows } = await db.query<PageRow>(
    `select p.payment_id, t.network, t.transaction_id, t.transaction_event_index, a.payment_id is not null as accepted,
            case when p.status <> 'PAID' then 'open'
                 when p.paid_at < least(now() - interval '${CHECK_GRACE_SECONDS} seconds',
                                        (select min(created_at) from outbox where name = 'PaymentPaid')) then 'told'
                 else 'paid' end as state
       from (select * from payment where payment_id > $1 order by payment_id limit ${CHECKED_AT_ONCE}) p
       left join lateral (select * from transfer t
                           where t.payment_id = p.payment_id or (t.related_payment_id = p.payment_id and t.counted)
                           order by t.payment_id, amount_units desc limit ${PARTS_MAX}) t on true
       left join transfer_acceptance a on a.payment_id = p.payment_id
      order by p.payment_id`,
    [after],
  );
  const ids = [...new Set(rows.map(({ payment_id: id }) => id))];
  return {
    read_at: rfc3339(clock[0]?.now ?? new Date()),
    payments: rows.map(({ payment_id, state, network, ...transfer }) => ({
      payment_id,
      state,
      transfer: network === null ? null : { network, ...transfer },
    })),
    violations: await findBroken(
      db,
      paymentRules((alias) => `${alias}.payment_id = any($1)`),
      [ids],
    ),
    next: ids.length === CHECKED_AT_ONCE ? (ids.at(-1) ?? null) : null,
  };
}

/** @param after the merchant's id after which the page begins; '' for the first page. See CheckCounters. */
export async function checkCounters(
  db: Queryable,
  { after }: { after: string },
): Promise<{
  until: string;
  merchants: CreatedPayments[];
  counted: number;
  violations: Violation[];
  next: string | null;
}> {
  const { rows } = await db.query<CreatedPayments & { today: Date; is_over: boolean; is_last: boolean }>(
    `with page as (
       select *, sum(used_lifetime) over (order by merchant_id) - used_lifetime as before
         from gate where merchant_id > $1 order by merchant_id limit ${CHECKED_AT_ONCE})
     select merchant_id, used_lifetime - case when used_day = day.today then used_today else 0 end as created,
            day.today::timestamp at time zone 'UTC' as today,
            now() > (day.today::timestamp at time zone 'UTC') + interval '${CHECK_GRACE_SECONDS} seconds' as is_over,
            (select count(*) from page) < ${CHECKED_AT_ONCE} and merchant_id = (select max(merchant_id) from page) as is_last
       from page cross join (select (now() at time zone 'UTC')::date as today) day
      where before < ${COUNTED_AT_ONCE} order by merchant_id`,
    [after],
  );
  const last = rows.at(-1);
  return {
    until: rfc3339(last?.today ?? new Date()),
    merchants: rows.filter((row) => row.is_over).map(({ merchant_id, created }) => ({ merchant_id, created })),
    counted: rows.length,
    violations: await findBroken(
      db,
      counterRules((alias) => `${alias}.merchant_id = any($1)`),
      [rows.map(({ merchant_id: id }) => id)],
    ),
    next: last === undefined || last.is_last ? null : last.merchant_id,
  };
}

/** See CheckLedger. A newer version than the published one is fine: it came since. */
export async function checkLedger(db: Queryable, told: readonly ToldTransfer[]): Promise<Violation[]> {
  const { rows } = await db.query<{ what: string }>(
    `select format('%s event %s on %s: %s', told.transaction_id, told.index, told.network,
                   case when t.network is null then 'is not here' when t.version < told.version then 'is here as it was before'
                        else format('is here with %s units, was told with %s', t.amount_units, told.amount_units) end) as what
       from unnest($1::text[], $2::text[], $3::integer[], $4::bigint[], $5::numeric[])
              as told (network, transaction_id, index, version, amount_units)
       left join transfer t on t.network = told.network and t.transaction_id = told.transaction_id
        and t.transaction_event_index = told.index
      where t.network is null or t.version < told.version or t.amount_units <> told.amount_units`,
    [
      told.map(({ network }) => network),
      told.map(({ transaction_id: id }) => id),
      told.map(({ transaction_event_index: index }) => index),
      told.map(({ version }) => version),
      told.map(({ amount_units: units }) => units),
    ],
  );
  return rows.map(({ what }) => ({ rule: 'what chain-watcher told of transfers is in the ledger', what }));
}
