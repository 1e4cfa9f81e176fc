-- Chooses an address of a list for one payment, or the next of an extended key: the longest unused one that no other payment has, that
-- no other merchant owns, and that no other creation is taking. Returns no row when there is none.
--
-- `free_at` is kept by the payments that have an address for themselves, so the first entry of the index is nearly always free. Payments
-- that share an address, and other merchants, don't change it: what is found to be in use gets a later time, and the next one is tried.
create or replace function choose_pool_address(of_source bigint, on_network text, for_merchant text, binds boolean, rest interval)
returns table (address text, place integer)
language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  chosen record;
  used_until timestamptz;
begin
  loop
    select a.address, a.place into chosen from pool_address a
     where a.source_id = of_source and a.free_at <= now() order by a.source_id, a.free_at, a.place limit 1 for update skip locked;
    if not found then return; end if;
    select max(until) into used_until from (
      -- Nobody knows when another merchant releases its address.
      select now() + interval '1 day' as until from wallet w
       where w.address = chosen.address and w.merchant_id <> for_merchant and (binds or w.proven_at is not null)
      union all
      (select rest_ends_at(p) from payment p
        where p.network = on_network and p.recipient = chosen.address and p.rest_seconds is not null
        order by p.network desc, p.recipient desc, p.created_at desc limit 1)
      union all
      select address_shared_until(on_network, chosen.address, rest)) as used;
    if coalesce(used_until, '-infinity') <= now() then
      if pg_try_advisory_xact_lock(address_lock(on_network, chosen.address)) then
        return query select chosen.address, chosen.place;
        return;
      end if;
      used_until := now() + interval '1 second';
    end if;
    update pool_address a set free_at = used_until where a.source_id = of_source and a.address = chosen.address;
  end loop;
end $$;
