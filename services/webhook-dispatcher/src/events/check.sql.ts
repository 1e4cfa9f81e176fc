import { CHECK_GRACE_SECONDS, type Violation, type CheckedPayment } from '@quittance/contracts/http/check.ts';
import { findBroken } from '@quittance/postgres/broken-rules.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';

/** Operators may drop the attempts of old months. */
const attemptsAreKept = (time: string): string =>
  `to_regclass('attempt_' || to_char(${time} at time zone 'UTC', 'YYYYMM')) is not null`;

/**
 * The invariants of events and their deliveries. Each statement selects the violations as text. It is a single statement, so that it never
 * sees the middle of a transaction.
 * @param inScope the condition for a row of this alias, on `event_id`.
 */
export const eventRules = (inScope: (alias: string) => string): Record<string, string> => ({
  'I7 an event has a delivery, and its body is about it': `
    select format('%s of %s: %s', e.event_id, e.payment_id, b.json) as what
      from event e
      left join delivery d on d.event_id = e.event_id
        and d.merchant_id = e.merchant_id || case when e.event_type is null then '' else ':notices' end
     cross join lateral (select convert_from(e.body, 'UTF8')::jsonb as json) b
     where ${inScope('e')} and (d.event_id is null or b.json ->> 'event_id' <> e.event_id
        or b.json ->> 'payment_id' is distinct from coalesce(e.payment_id, e.notice_payment_id)
        or (b.json ->> 'status' = 'PAID') <> (e.event_type is null) or b.json ->> 'event_type' is distinct from e.event_type)`,
  // A lane may be put off, but not for longer than a minute.
  'I8 what pends is due at a time its lane knows of': `
    select format('%s is due at %s, its lane at %s', d.event_id, d.next_attempt_at, coalesce(l.next_due_at::text, 'no time')) as what
      from delivery d left join lane l on l.merchant_id = d.merchant_id
     where ${inScope('d')} and d.status = 'pending'
       and (l.next_due_at is null
            or l.next_due_at > greatest(d.next_attempt_at, l.open_until, now()) + interval '1 minute')`,
  'I8 a success is a fact': `
    select format('%s was accepted by its receiver, and is %s', d.event_id, d.status) as what
      from delivery d
     where ${inScope('d')} and d.status <> 'delivered'
       and exists (select from attempt a where a.event_id = d.event_id and a.error_category is null)`,
  'I8 what is delivered was accepted by its receiver': `
    select format('%s is delivered, but no attempt was accepted', d.event_id) as what
      from delivery d
     where ${inScope('d')} and d.status = 'delivered' and ${attemptsAreKept('d.delivered_at')}
       and not exists (select from attempt a where a.event_id = d.event_id and a.error_category is null)`,
  'I8 no attempt is charged that was not made': `
    select format('%s: %s attempts charged, %s made', d.event_id, d.attempts, a.made) as what
      from delivery d
     cross join lateral (
       select count(*) as made from attempt a where a.event_id = d.event_id and a.cycle = d.cycle
     ) a
     -- A success of an earlier cycle may end a later one.
     where ${inScope('d')} and ${attemptsAreKept('d.cycle_started_at')} and d.attempts > a.made + (d.status = 'delivered')::int`,
  'I8 an attempt is written down once': `
    select format('%s: %s rows of lease %s', event_id, count(*), lease_id) as what
      from attempt a where ${inScope('a')} group by event_id, lease_id having count(*) > 1`,
  // An attempt that was claimed before the rotation may still run, for as long as a lease.
  'I12 no replaced key signs': `
    select format('%s was sent at %s with %s, which was replaced at %s', a.event_id, a.started_at, k.key_id, k.retired_at) as what
      from attempt a join signing_key k on k.key_id = a.key_id
     where ${inScope('a')} and a.started_at > k.retired_at + interval '45 seconds'`,
  'I12 a merchant has one key in use, the one of its endpoint': `
    select format('%s: %s', e.merchant_id, e.active_key_id) as what
      from endpoint e left join signing_key k on k.key_id = e.active_key_id and k.retired_at is null
     where k.merchant_id is distinct from e.merchant_id
       and exists (select from event of_it where of_it.merchant_id = e.merchant_id and ${inScope('of_it')})`,
  'I13 a manual retry and its audit row exist together': `
    select format('%s is in cycle %s, with %s audit rows', d.event_id, d.cycle, coalesce(a.retries, 0)) as what
      from delivery d
      left join (
        select event_id, count(*) as retries from audit where action in ('event_retried', 'event_recovered') group by event_id
      ) a on a.event_id = d.event_id
     where ${inScope('d')} and d.cycle <> coalesce(a.retries, 0) + 1`,
});

/** Compares payments with the events here. Parameters: the payments' ids, the state of each (`told` as paid, or `open`), and when payments read them. */
const toldRules = {
  'I7 a paid payment has its PAID event': `
    select format('%s was told as paid a minute ago or longer, and has no event here', payment_id) as what
      from unnest($1::text[], $2::text[]) as p (payment_id, state)
     where state = 'told' and $3::timestamptz is not null and not exists (select from event e where e.payment_id = p.payment_id)`,
  'I7 a payment that is not paid has no PAID event': `
    select format('%s was not PAID at %s, and %s had said so at %s', p.payment_id, $3::timestamptz, e.event_id, e.created_at) as what
      from unnest($1::text[], $2::text[]) as p (payment_id, state) join event e on e.payment_id = p.payment_id
     where state = 'open' and e.created_at < $3::timestamptz - interval '${CHECK_GRACE_SECONDS} seconds'`,
};

/** See CheckEvents. @param readAt when payments read them. */
export async function checkEvents(
  db: Queryable,
  payments: readonly Pick<CheckedPayment, 'payment_id' | 'state'>[],
  readAt: Date,
): Promise<{ events: number; violations: Violation[] }> {
  const ids = payments.map(({ payment_id: id }) => id);
  const { rows } = await db.query<{ event_id: string }>(
    `select event_id from event where payment_id = any($1)
     union select event_id from event where notice_payment_id = any($1)`,
    [ids],
  );
  const events = rows.map(({ event_id: id }) => id);
  const told = await findBroken(db, toldRules, [ids, payments.map(({ state }) => state), readAt]);
  const own = eventRules((alias) => `${alias}.event_id = any($1)`);
  return { events: events.length, violations: [...told, ...(await findBroken(db, own, [events]))] };
}
