-- Locks payments, in each transaction that stores a PAID event, or that stores, retries, releases or settles a notice that must not follow
-- it. So the second of two such transactions sees everything that the first did. These locks are taken before those on lanes, and in order,
-- so that two batches do not deadlock.
create or replace function lock_payments(payments text[]) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(k.key)
     from (
       select distinct hashtextextended('webhooks payment ' || p.payment_id, 0) as key from unnest(payments) as p(payment_id) order by key
     ) k;
end
$$;

-- Locks payments, and returns those that have a PAID event.
create or replace function lock_paid(payments text[]) returns text[] language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
begin
  perform lock_payments(payments);
  -- A separate statement, so that its snapshot is newer than the locks.
  return array(select e.payment_id from event e where e.payment_id = any(payments));
end
$$;
