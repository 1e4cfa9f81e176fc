import type { Queryable } from '@quittance/postgres/pool.ts';

/**
 * Looks for what must never be in the dispatcher's rows, whatever was killed, frozen, repeated or raced: at any moment at which no
 * transaction is under way.
 * I7 one event, whose id and bytes are what it says · I8 nothing pends without a due time that its lane knows of, and a success is a
 * fact · I12 no replaced key signs · I13 a manual retry and its audit row exist together.
 * @param db on the search path of the webhooks schema.
 * @returns a line for each violation; none when all is well.
 */
export async function findViolations(db: Queryable): Promise<string[]> {
  const found: string[] = [];
  for (const [name, text] of Object.entries(rules)) {
    const { rows } = await db.query<{ what: string }>(`select what from (${text}) violation limit 5`);
    found.push(...rows.map(({ what }) => `${name}: ${what}`));
  }
  return found;
}

/** Each selects what is wrong as text. */
const rules: Record<string, string> = {
  'I7 an event has a delivery, and its body is about it': `
    select format('%s of %s: %s', e.event_id, e.payment_id, b.json) as what
      from event e
      left join delivery d on d.event_id = e.event_id
        and d.merchant_id = e.merchant_id || case when e.event_type is null then '' else ':notices' end
     cross join lateral (select convert_from(e.body, 'UTF8')::jsonb as json) b
     where d.event_id is null or b.json ->> 'event_id' <> e.event_id or b.json ->> 'payment_id' is distinct from coalesce(e.payment_id, e.notice_payment_id)
        or (b.json ->> 'status' = 'PAID') <> (e.event_type is null) or b.json ->> 'event_type' is distinct from e.event_type`,
  // A lane may be put off, but not for longer than a minute.
  'I8 what pends is due at a time its lane knows of': `
    select format('%s is due at %s, its lane at %s', d.event_id, d.next_attempt_at, coalesce(l.next_due_at::text, 'no time')) as what
      from delivery d left join lane l on l.merchant_id = d.merchant_id
     where d.status = 'pending'
       and (l.next_due_at is null
            or l.next_due_at > greatest(d.next_attempt_at, l.open_until, now()) + interval '1 minute')`,
  'I8 a success is a fact': `
    select format('%s was accepted by its receiver, and is %s', d.event_id, d.status) as what
      from delivery d
     where d.status <> 'delivered'
       and exists (select from attempt a where a.event_id = d.event_id and a.error_category is null)`,
  'I8 what is delivered was accepted by its receiver': `
    select format('%s is delivered, but no attempt was accepted', d.event_id) as what
      from delivery d
     where d.status = 'delivered'
       and not exists (select from attempt a where a.event_id = d.event_id and a.error_category is null)`,
  'I8 no attempt is charged that was not made': `
    select format('%s: %s attempts charged, %s made', d.event_id, d.attempts, a.made) as what
      from delivery d
     cross join lateral (
       select count(*) as made from attempt a where a.event_id = d.event_id and a.cycle = d.cycle
     ) a
     -- A success of an earlier cycle may end a later one.
     where d.attempts > a.made + (d.status = 'delivered')::int`,
  'I8 an attempt is written down once': `
    select format('%s: %s rows of lease %s', event_id, count(*), lease_id) as what
      from attempt group by event_id, lease_id having count(*) > 1`,
  // An attempt that was claimed before the rotation may still run, for as long as a lease.
  'I12 no replaced key signs': `
    select format('%s was sent at %s with %s, which was replaced at %s', a.event_id, a.started_at, k.key_id, k.retired_at) as what
      from attempt a join signing_key k on k.key_id = a.key_id
     where a.started_at > k.retired_at + interval '45 seconds'`,
  'I12 a merchant has one key in use, the one of its endpoint': `
    select format('%s: %s', e.merchant_id, e.active_key_id) as what
      from endpoint e left join signing_key k on k.key_id = e.active_key_id and k.retired_at is null
     where k.merchant_id is distinct from e.merchant_id`,
  'I13 a manual retry and its audit row exist together': `
    select format('%s is in cycle %s, with %s audit rows', d.event_id, d.cycle, a.retries) as what
      from delivery d
     cross join lateral (
       select count(*) as retries from audit a
        where a.event_id = d.event_id and a.action in ('event_retried', 'event_recovered')
     ) a
     where d.cycle <> a.retries + 1`,
};
