-- What the database knows about creations of different merchants: the clock, the reply already saved under the Idempotency-Key, the
-- wallet's owner, the newest payment of the slot if it is not older than the clock, and a free amount.
--
-- Each question has merchant_id, idempotency_key, network, recipient, amount_units, is_unique and needs_amount. free_units is null when no
-- amount is needed or none is free, and 0 while another creation holds the price. Call it after locking the gates: this statement sees what
-- the last holders wrote, and it waits for nothing.
create or replace function creation_facts(questions jsonb)
returns table (of_merchant text, clock timestamptz, newest_at timestamptz, owner text, is_proven boolean, free_units bigint,
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
  select q.merchant_id, present, newest.created_at, w.merchant_id, w.proven_at is not null,
         case when not q.needs_amount or r.body is not null then null
              when q.is_unique then choose_unique_amount(q.network, q.recipient, q.amount_units)
              when slot.taken then null
              when q.amount_units % 10000 = 0 then keep_bare_price(q.network, q.recipient, q.amount_units)
              else q.amount_units end,
         r.fingerprint, r.equal_fingerprint, r.body
    from jsonb_to_recordset(questions) as q (merchant_id text, idempotency_key text, network text, recipient text,
                                             amount_units bigint, is_unique boolean, needs_amount boolean)
    left join wallet w on w.address = q.recipient
    left join lateral (
      select i.fingerprint, i.equal_fingerprint, i.body from idempotent_reply i
       where i.merchant_id = q.merchant_id and i.idempotency_key = q.idempotency_key and i.created_at > now() - interval '30 days'
       limit 1) r on true
    left join lateral (
      select true as taken from payment p
       where p.network = q.network and p.recipient = q.recipient and p.amount_units = q.amount_units and p.status in ('PENDING', 'CHECKING')
       limit 1) slot on true
    left join lateral (
      -- Ordered like payment_slot_history, so that no other index is used.
      select p.created_at from payment p
       where p.network = q.network and p.recipient = q.recipient and p.amount_units between q.amount_units and q.amount_units
         and p.created_at >= present
       order by p.amount_units desc, p.created_at desc limit 1) newest on true;
end $$;
