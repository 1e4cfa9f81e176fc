-- Orders the events of payments that have a PAID event: withdraws notices that must not follow PAID and are not in flight, and makes PAID due
-- when no such notice is in flight, at the latest when the last of their leases expires.
-- The caller has locked the payments, and then both lanes of their merchants, so that no claim leases these events meanwhile.
create or replace function take_back_notices(payments text[]) returns void language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
begin
  -- A notice whose attempts were used up can no longer be retried either.
  update delivery d
     set status = 'failed', next_attempt_at = null, lease_id = null, error_category = 'superseded',
         interruptions = d.interruptions + (d.lease_id is not null)::int
    from unnest(payments) as p(payment_id)
   cross join lateral (
     select e.event_id from event e where e.notice_payment_id = p.payment_id and precedes_paid(e.event_type)
   ) n
   where d.event_id = n.event_id and (d.lease_id is null or d.next_attempt_at <= now())
     and (d.status = 'pending' or d.status = 'failed' and d.error_category <> 'superseded');

  with moved as (
    update delivery d
       set next_attempt_at = greatest(now(), paid.free_at)
      from (
        select e.event_id,
               (select max(nd.next_attempt_at) from event n join delivery nd on nd.event_id = n.event_id
                 where n.notice_payment_id = e.payment_id and precedes_paid(n.event_type) and nd.status = 'pending') as free_at
          from event e where e.payment_id = any(payments)
      ) paid
     where d.event_id = paid.event_id and d.status = 'pending' and d.lease_id is null and d.attempts = 0
       and (paid.free_at > now() or d.next_attempt_at > now())
    returning d.merchant_id, d.next_attempt_at
  )
  update lane l
     set next_due_at = least(l.next_due_at, greatest(m.due_at, l.open_until))
    from (select merchant_id, min(next_attempt_at) as due_at from moved group by merchant_id) m
   where l.merchant_id = m.merchant_id;
end
$$;
