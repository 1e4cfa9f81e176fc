-- Until when payments that share this address keep it from being given to a single payment: while one is unfinished, and for a time after
-- its end. Null when there is none. Payments end within a day of their creation, except those that were paid later. Of an address with
-- more payments in that time, the newest thousand are read.
create or replace function address_shared_until(on_network text, address text, after_end interval) returns timestamptz
language plpgsql stable set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
  return (
    select max(ends) + after_end from (
      (select greatest(p.expires_at, now()) as ends from payment p
        where p.network = on_network and p.recipient = address and p.status in ('PENDING', 'CHECKING') and p.rest_seconds is null
        order by p.network, p.recipient, p.amount_units limit 1)
      union all
      (select coalesce(p.paid_at, p.cancelled_at, p.expires_at) from payment p
        where p.network = on_network and p.recipient = address and p.created_at > now() - after_end - interval '1 day'
          and p.rest_seconds is null
        order by p.network desc, p.recipient desc, p.created_at desc limit 1000)
      union all
      (select max(p.paid_at) from payment p
        where p.network = on_network and p.recipient = address and p.status = 'PAID' and p.paid_at > least(p.expires_at, p.cancelled_at)
          and p.rest_seconds is null)) as used);
end $$;
