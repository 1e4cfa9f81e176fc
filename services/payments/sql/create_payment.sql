-- Creates a payment with everything that belongs to it, or returns why not; then nothing is written. One statement, so that the
-- merchant's gate is locked as briefly as possible (docs/adr/0010).
--
-- new_payment, new_reply and new_message are the rows to be written, without status, timestamps and texts. reply_parts and
-- message_parts are JSON texts in three parts, between which created_at and expires_at belong.
-- A requested_amount asks for a unique amount: amount_units is then the price that it is near, and the texts have four parts, for the
-- chosen amount belongs before the timestamps.
-- outcome: 'created' and 'replayed' come with the exact bytes of the 201; 'unknown_merchant' when no policy has arrived from quota;
-- else the refusal.
-- Raises lock_not_available when the gate is not free within the transaction's lock_timeout, or others keep taking the amounts chosen.
create or replace function create_payment(
  new_payment payment, time_to_live interval, bind_wallet boolean,
  new_reply idempotent_reply, reply_parts text[],
  new_message outbox, message_parts text[],
  out outcome text, out body bytea
) language plpgsql
-- Everything here is found by an index. A plan is kept as long as its connection, and one made while the tables were empty would
-- scan them when they no longer are.
set enable_seqscan = off as $$
declare
  g gate;
  saved record;
  wallet_owner text;
  timestamps text[];
  is_unique constant boolean := new_payment.requested_amount is not null;
  price_units constant bigint := new_payment.amount_units;
  is_created boolean;
begin
  -- A replay waits for no lock. The lock's last holder may have answered the same key, so the search is repeated under the lock.
  for search in 1..2 loop
    select r.fingerprint, r.body into saved from idempotent_reply r
     where r.merchant_id = new_reply.merchant_id and r.idempotency_key = new_reply.idempotency_key
       and r.created_at > now() - interval '30 days';
    if found then
      outcome := case when saved.fingerprint = new_reply.fingerprint then 'replayed' else 'key_conflict' end;
      body := case when outcome = 'replayed' then saved.body end;
      return;
    end if;
    if search = 1 then
      select * into g from gate where merchant_id = new_payment.merchant_id for update;
      if not found or g.policy_version = 0 then
        outcome := 'unknown_merchant';
        return;
      end if;
    end if;
  end loop;

  -- The clock's milliseconds, not more: that is what the reply holds.
  new_payment.created_at := date_trunc('milliseconds', clock_timestamp());
  new_payment.expires_at := new_payment.created_at + time_to_live;
  new_payment.expiry_check_at := new_payment.expires_at;
  new_payment.status := 'PENDING';

  outcome := creation_block_reason(g, new_payment.created_at);
  if outcome is not null then return; end if;
  if not g.webhook_ok then outcome := 'webhook_missing'; return; end if;

  if bind_wallet then
    select merchant_id into wallet_owner from wallet where address = new_payment.recipient;
    if wallet_owner is null then
      -- Creations of one merchant wait for each other at its gate, so a concurrent owner is another merchant.
      insert into wallet (address, merchant_id, bound_at)
      values (new_payment.recipient, new_payment.merchant_id, new_payment.created_at) on conflict do nothing;
      if not found then outcome := 'wallet_of_another_merchant'; return; end if;
    elsif wallet_owner <> new_payment.merchant_id then
      outcome := 'wallet_of_another_merchant';
      return;
    end if;
  end if;

  for attempt in 1..100 loop
    if is_unique then
      new_payment.amount_units := choose_unique_amount(new_payment.network, new_payment.recipient, price_units);
      if new_payment.amount_units is null then is_created := false; exit; end if;
      new_payment.amount := to_char(new_payment.amount_units / 1000000.0, 'FM999999999990.0000');
    end if;
    insert into payment select new_payment.*
    on conflict (network, recipient, amount_units) where status in ('PENDING', 'CHECKING') do nothing;
    is_created := found;
    -- Where merchants share the address, another one may have taken the amount meanwhile.
    exit when is_created or not is_unique;
    if attempt = 100 then raise lock_not_available using message = 'others took every amount that was chosen'; end if;
  end loop;
  if not is_created then
    -- Only a success binds a wallet.
    if bind_wallet and wallet_owner is null then delete from wallet where address = new_payment.recipient; end if;
    outcome := 'slot_taken';
    return;
  end if;

  update gate
     set used_lifetime = used_lifetime + 1,
         used_day = (new_payment.created_at at time zone 'UTC')::date,
         used_today = case when used_day = (new_payment.created_at at time zone 'UTC')::date then used_today + 1 else 1 end
   where merchant_id = new_payment.merchant_id;

  outcome := 'created';
  if is_unique then
    reply_parts := array[reply_parts[1] || new_payment.amount || reply_parts[2], reply_parts[3], reply_parts[4]];
    message_parts := array[message_parts[1] || new_payment.amount || message_parts[2], message_parts[3], message_parts[4]];
  end if;
  timestamps := array[rfc3339(new_payment.created_at), rfc3339(new_payment.expires_at)];
  body := convert_to(reply_parts[1] || timestamps[1] || reply_parts[2] || timestamps[2] || reply_parts[3], 'UTF8');
  insert into idempotent_reply (merchant_id, idempotency_key, created_at, fingerprint, body)
  values (new_reply.merchant_id, new_reply.idempotency_key, new_payment.created_at, new_reply.fingerprint, body);
  insert into outbox (message_id, name, version, merchant_id, body, request_id, traceparent)
  values (new_message.message_id, new_message.name, new_message.version, new_message.merchant_id,
          message_parts[1] || timestamps[1] || message_parts[2] || timestamps[2] || message_parts[3],
          new_message.request_id, new_message.traceparent);
end $$;
