-- Decides creations of several merchants together, one of each merchant, and writes those that are allowed with everything that belongs
-- to them. It waits for no gate: the outcome of a creation whose gate is locked, or whose merchant's policy has not arrived, is null, and
-- so is that of one that must choose its unique amount again, or see whose the wallet has become. Nothing is written for it, and
-- create_payment() decides it alone.
--
-- of_merchants are the merchants of the creations. Each creation is an object with payment, reply and message, the rows to be written,
-- without status, timestamps and texts; seconds, how long the payment waits; bind_wallet; reply_parts and message_parts, JSON texts in
-- parts between which the values belong that are decided here: created_at and expires_at, and before them the amount, if it is unique.
-- A requested_amount asks for a unique amount: amount_units is then the price that it is near.
-- outcome: 'created' and 'replayed' come with the exact bytes of the 201; else the refusal, or null.
-- Raises unique_violation when another merchant binds one of the wallets in this moment.
create or replace function create_payments(of_merchants text[], creations jsonb)
returns table (of_merchant text, outcome text, body bytea) language plpgsql
-- Everything here is found by an index. One plan serves groups of every size: planning takes longer than a creation, and a plan made
-- while the tables were empty would scan them when they no longer are.
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan as $$
declare
  locked text[];
  -- The clock's milliseconds, not more: that is what the replies hold.
  clock timestamptz;
begin
  select array_agg(g.merchant_id) into locked from (
    select merchant_id from gate where merchant_id = any (of_merchants) and policy_version > 0 for update skip locked) g;
  clock := date_trunc('milliseconds', clock_timestamp());
  -- A new statement, so that it sees what the gates' last holders have written.
  return query
  -- "offset 0" keeps an expression from being copied to each place that uses it.
  with decided as materialized (
    select ruled.*, (payment).requested_amount is not null as is_unique,
           case when decision is distinct from 'created' then null
                when (payment).requested_amount is not null
                  then choose_unique_amount((payment).network, (payment).recipient, (payment).amount_units)
                when (payment).amount_units % 10000 = 0
                  then keep_bare_price((payment).network, (payment).recipient, (payment).amount_units)
                else (payment).amount_units end as units
      from (
        select c.*, created, saved.body as saved_body, bind_wallet and owner.merchant_id is null as binds,
               case
                 when saved.body is not null
                   then case when (reply).fingerprint in (saved.fingerprint, saved.equal_fingerprint)
                               or saved.equal_fingerprint is null and (reply).equal_fingerprint = saved.fingerprint
                             then 'replayed' else 'key_conflict' end
                 when g.merchant_id is not null then coalesce(creation_block_reason(g, created), case
                   when not g.webhook_ok then 'webhook_missing'
                   when (bind_wallet or owner.proven_at is not null) and owner.merchant_id <> g.merchant_id then 'wallet_of_another_merchant'
                   else 'created' end)
               end as decision
          from jsonb_to_recordset(creations) as c (payment payment, seconds float8, bind_wallet boolean, reply idempotent_reply,
                                                   reply_parts text[], message outbox, message_parts text[])
          left join gate g on g.merchant_id = (payment).merchant_id and g.merchant_id = any (locked)
          left join wallet owner on owner.address = (payment).recipient
          -- Payments of a slot are in the order of created_at. A clock that was set back a little must not put this one before the others.
          left join lateral (
            select p.created_at from payment p
             where p.network = (payment).network and p.recipient = (payment).recipient
               and p.amount_units between (payment).amount_units and (payment).amount_units and p.created_at >= clock
             order by p.amount_units desc, p.created_at desc limit 1) newest on newest.created_at <= clock + interval '150 seconds'
          cross join lateral (select coalesce(newest.created_at + interval '1 millisecond', clock) as created) began
          left join lateral (
            select r.fingerprint, r.equal_fingerprint, r.body from idempotent_reply r
             where r.merchant_id = (reply).merchant_id and r.idempotency_key = (reply).idempotency_key
               and r.created_at > now() - interval '30 days' limit 1) saved on true
        offset 0) ruled
  ), composed as materialized (
    select payment, created, binds, reply, message,
           jsonb_populate_record(payment, jsonb_build_object(
             'status', 'PENDING', 'amount', amount, 'amount_units', units, 'created_at', created, 'expires_at', expires_at,
             'expiry_check_at', expires_at)) as new_payment,
           convert_to(reply_parts[1] || v[1] || reply_parts[2] || v[2] || reply_parts[3] || coalesce(v[3] || reply_parts[4], ''), 'UTF8')
             as reply_body,
           message_parts[1] || v[1] || message_parts[2] || v[2] || message_parts[3] || coalesce(v[3] || message_parts[4], '')
             as message_body
      from (
        select valued.*, case when is_unique then array[amount] else '{}' end || rfc3339(created) || rfc3339(expires_at) as v
          from (
            select decided.*, created + make_interval(secs => seconds) as expires_at,
                   case when is_unique
                        then to_char(units / 1000000.0, 'FM999999999990.0000' || case when units % 100 <> 0 then '00' else '' end)
                        else (payment).amount end as amount
              from decided where units > 0
            offset 0) valued
        offset 0) texts
  ), inserted as (
    insert into payment select (new_payment).* from composed
    on conflict (network, recipient, amount_units) where status in ('PENDING', 'CHECKING') do nothing
    returning payment.payment_id
  ), done as materialized (
    select c.* from inserted join composed c on (c.payment).payment_id = inserted.payment_id
  ), bound as (
    insert into wallet (address, merchant_id, bound_at) select (payment).recipient, (payment).merchant_id, created from done where binds
  ), counted as (
    update gate
       set used_lifetime = used_lifetime + 1,
           used_day = (created at time zone 'UTC')::date,
           used_today = case when used_day = (created at time zone 'UTC')::date then used_today + 1 else 1 end
      from done where gate.merchant_id = (done.payment).merchant_id
  ), replied as (
    insert into idempotent_reply (merchant_id, idempotency_key, created_at, fingerprint, equal_fingerprint, body)
    select (reply).merchant_id, (reply).idempotency_key, created, (reply).fingerprint, (reply).equal_fingerprint, reply_body from done
  ), sent as (
    insert into outbox (message_id, name, version, merchant_id, body, request_id, traceparent)
    select (message).message_id, (message).name, (message).version, (message).merchant_id, message_body,
           (message).request_id, (message).traceparent from done
  )
  select (d.payment).merchant_id,
         case
           when d.decision <> 'created' or done.reply_body is not null then d.decision
           -- Where somebody holds the price, or has taken the chosen amount meanwhile, it is decided again; and where nobody had the wallet,
           -- but somebody has it by now.
           when d.decision = 'created' and (d.units is null or not d.is_unique and d.units > 0)
                and not (d.binds and wallet_is_bound((d.payment).recipient)) then 'slot_taken'
         end,
         case when d.decision = 'replayed' then d.saved_body else done.reply_body end
    from decided d left join done on (done.payment).payment_id = (d.payment).payment_id;
end $$;
