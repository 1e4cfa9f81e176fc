-- What the database knows about creations of different merchants: the clock, the reply already saved under the Idempotency-Key, the
-- address and its owner, who else uses the address, the newest payment of the slot if it is not older than the clock, and a free amount.
--
-- Each question has merchant_id, idempotency_key, amount_units, is_unique, is_dedicated, needs_amount, and either network and recipient
-- or the name of a pool, which gives an address. source_id is null when there is no such pool, and is_derived when its addresses come
-- from an extended key. is_used says whether other payments keep
-- this one from the address. free_units is null when no amount is needed or none is free, and 0 while another creation holds the
-- price or the address. Call it after locking the gates: this statement sees what the last holders wrote, and it waits for nothing.
create or replace function creation_facts(questions jsonb, binds_wallets boolean)
returns table (of_merchant text, clock timestamptz, on_network text, recipient text, rest_seconds integer, derivation_index integer,
               source_id bigint, is_derived boolean, is_used boolean, newest_at timestamptz, owner text, is_proven boolean, free_units bigint,
               fingerprint bytea, equal_fingerprint bytea, body bytea)
language plpgsql
-- Every row is found by an index. One plan serves groups of every size: planning takes longer than a creation, and a plan made while
-- the tables were empty would scan them once they are full.
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan as $$
declare
  -- Milliseconds, because replies have no finer precision.
  present constant timestamptz := date_trunc('milliseconds', clock_timestamp());
begin
  return query
  select q.merchant_id, present, wanted.network, wanted.address, wanted.rest, case when pool.kind = 'xpub' then chosen.place end, pool.source, coalesce(pool.kind = 'xpub', false), coalesce(used.until > present, false),
         newest.created_at, w.merchant_id, w.proven_at is not null,
         case when wanted.address is null or not asks.amount then null
              when pool.source is null and not
                   case when q.is_dedicated then pg_try_advisory_xact_lock(address_lock(wanted.network, wanted.address))
                        else pg_try_advisory_xact_lock_shared(address_lock(wanted.network, wanted.address)) end then 0
              when q.is_unique then choose_unique_amount(wanted.network, wanted.address, q.amount_units)
              when slot.taken then null
              when q.amount_units % 10000 = 0 and wanted.rest is null
                then keep_bare_price(wanted.network, wanted.address, q.amount_units)
              else q.amount_units end,
         r.fingerprint, r.equal_fingerprint, r.body
    from jsonb_to_recordset(questions) as q (merchant_id text, idempotency_key text, network text, recipient text, pool text,
                                             amount_units bigint, is_unique boolean, is_dedicated boolean, needs_amount boolean)
    left join lateral (
      select i.fingerprint, i.equal_fingerprint, i.body from idempotent_reply i
       where i.merchant_id = q.merchant_id and i.idempotency_key = q.idempotency_key and i.created_at > now() - interval '30 days'
       limit 1) r on true
    cross join lateral (select q.needs_amount and r.body is null as amount) asks
    left join lateral (
      select s.source_id as source, s.network, s.kind, p.rest_seconds from wallet_pool p join address_source s using (source_id)
       where q.pool is not null and p.merchant_id = q.merchant_id and p.name = q.pool) pool on true
    left join lateral choose_pool_address(pool.source, pool.network, q.merchant_id, binds_wallets, pool.rest_seconds * interval '1 second')
      chosen on pool.source is not null and asks.amount
    cross join lateral (
      select coalesce(pool.network, q.network) as network, coalesce(chosen.address, q.recipient) as address,
             coalesce(pool.rest_seconds, case when q.is_dedicated then 86400 end) as rest) wanted
    left join wallet w on w.address = wanted.address
    left join lateral (
      select rest_ends_at(p) as until from payment p
       where p.network = wanted.network and p.recipient = wanted.address and p.rest_seconds is not null
       order by p.network desc, p.recipient desc, p.created_at desc limit 1) held on true
    cross join lateral (
      select greatest(held.until, case when q.is_dedicated and asks.amount
                                       then address_shared_until(wanted.network, wanted.address, interval '30 days') end) as until) used
    left join lateral (
      select true as taken from payment p
       where p.network = wanted.network and p.recipient = wanted.address and p.amount_units = q.amount_units
         and p.status in ('PENDING', 'CHECKING')
       limit 1) slot on true
    left join lateral (
      -- Ordered like payment_slot_history, so that no other index is used.
      select p.created_at from payment p
       where p.network = wanted.network and p.recipient = wanted.address and p.amount_units between q.amount_units and q.amount_units
         and p.created_at >= present
       order by p.amount_units desc, p.created_at desc limit 1) newest on true;
end $$;
