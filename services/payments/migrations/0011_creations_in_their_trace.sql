-- A creation's message is said in the trace of the request that made it. So that processes from before and after this migration can
-- run side by side, the function for the latter is a new one, with one parameter more; that for the former calls it.

-- Creates a payment with everything that belongs to it, or says why not: then nothing is written.
-- outcome: 'created' and 'replayed' come with the exact bytes of the 201; 'unknown_merchant' when quota was never heard of it;
-- else the refusal. reply and message come in three parts, between which created_at and expires_at are still missing.
-- Raises lock_not_available when the gate is not free within the transaction's lock_timeout.
create function create_payment(
  new_payment_id text, for_merchant text, new_public_token text, new_token_sha256 bytea, on_network text, to_recipient text,
  new_amount text, new_amount_units bigint, new_description text, time_to_live interval, bind_wallet boolean,
  for_key text, request_fingerprint bytea, reply text[],
  message_id uuid, message_name text, message_version integer, message text[], request_id text, traceparent text,
  out outcome text, out body bytea
) language plpgsql
-- Everything here is found by an index. A plan is kept as long as its connection, and one made while the tables were empty would
-- read them whole when they are not.
set enable_seqscan = off as $$
declare
  g gate;
  saved record;
  created timestamptz;
  expires timestamptz;
  blocked text;
  owner text;
begin
  -- A replay waits for no lock. Whoever held it may just have answered the same key, so it is looked for again.
  for look in 1..2 loop
    select r.fingerprint, r.body into saved from idempotent_reply r
     where r.merchant_id = for_merchant and r.idempotency_key = for_key and r.created_at > now() - interval '30 days';
    if found then
      outcome := case when saved.fingerprint = request_fingerprint then 'replayed' else 'key_conflict' end;
      body := case when outcome = 'replayed' then saved.body end;
      return;
    end if;
    if look = 1 then
      select * into g from gate where merchant_id = for_merchant for update;
      if not found or g.policy_version = 0 then
        outcome := 'unknown_merchant';
        return;
      end if;
    end if;
  end loop;

  -- The clock's milliseconds, not more: that is what the reply says.
  created := date_trunc('milliseconds', clock_timestamp());
  expires := created + time_to_live;
  blocked := creation_block_reason(g, created);
  if blocked is not null then outcome := blocked; return; end if;
  if not g.webhook_ok then outcome := 'webhook_missing'; return; end if;

  if bind_wallet then
    select merchant_id into owner from wallet where address = to_recipient;
    if owner is null then
      -- One merchant's creations wait for each other at its gate, so whoever binds it at the same moment is another merchant.
      insert into wallet (address, merchant_id, bound_at) values (to_recipient, for_merchant, created) on conflict do nothing;
      if not found then outcome := 'wallet_of_another_merchant'; return; end if;
    elsif owner <> for_merchant then
      outcome := 'wallet_of_another_merchant';
      return;
    end if;
  end if;

  insert into payment (payment_id, merchant_id, public_token, token_sha256, network, recipient, amount, amount_units, description,
                       created_at, expires_at, expiry_check_at)
  values (new_payment_id, for_merchant, new_public_token, new_token_sha256, on_network, to_recipient, new_amount, new_amount_units,
          new_description, created, expires, expires)
  on conflict (network, recipient, amount_units) where status in ('PENDING', 'CHECKING') do nothing;
  if not found then
    -- Only a success binds a wallet.
    if bind_wallet and owner is null then delete from wallet where address = to_recipient; end if;
    outcome := 'slot_taken';
    return;
  end if;

  update gate
     set used_lifetime = used_lifetime + 1,
         used_day = (created at time zone 'UTC')::date,
         used_today = case when used_day = (created at time zone 'UTC')::date then used_today + 1 else 1 end
   where merchant_id = for_merchant;

  outcome := 'created';
  body := convert_to(reply[1] || rfc3339(created) || reply[2] || rfc3339(expires) || reply[3], 'UTF8');
  insert into idempotent_reply (merchant_id, idempotency_key, created_at, fingerprint, body)
  values (for_merchant, for_key, created, request_fingerprint, body);
  insert into outbox (message_id, name, version, merchant_id, body, request_id, traceparent)
  values (message_id, message_name, message_version, for_merchant,
          message[1] || rfc3339(created) || message[2] || rfc3339(expires) || message[3], request_id, traceparent);
end $$;

create or replace function create_payment(
  new_payment_id text, for_merchant text, new_public_token text, new_token_sha256 bytea, on_network text, to_recipient text,
  new_amount text, new_amount_units bigint, new_description text, time_to_live interval, bind_wallet boolean,
  for_key text, request_fingerprint bytea, reply text[],
  message_id uuid, message_name text, message_version integer, message text[], request_id text,
  out outcome text, out body bytea
) language sql as $$
  select * from create_payment(
    new_payment_id, for_merchant, new_public_token, new_token_sha256, on_network, to_recipient,
    new_amount, new_amount_units, new_description, time_to_live, bind_wallet,
    for_key, request_fingerprint, reply,
    message_id, message_name, message_version, message, request_id, null)
$$;
