-- Creates a payment with everything that belongs to it, or returns why not; then nothing is written. It decides as create_payments() does,
-- and waits for the locks that this one does not wait for.
--
-- new_payment, new_reply and new_message are the rows to be written, without status, timestamps and texts. reply_parts and
-- message_parts are JSON texts in three parts, between which created_at and expires_at belong; in four for a unique amount.
-- outcome: as create_payments(), never null; 'unknown_merchant' when no policy has arrived from quota.
-- Raises lock_not_available when the gate or the price is not free within the transaction's lock_timeout, or others keep taking the amounts chosen.
create or replace function create_payment(
  new_payment payment, time_to_live interval, bind_wallet boolean,
  new_reply idempotent_reply, reply_parts text[],
  new_message outbox, message_parts text[],
  out outcome text, out body bytea
) language plpgsql as $$
declare
  violated text;
  price constant bigint := price_lock(new_payment.network, new_payment.recipient, new_payment.amount_units);
  creation constant jsonb := jsonb_build_array(jsonb_build_object(
    'payment', to_jsonb(new_payment), 'seconds', extract(epoch from time_to_live), 'bind_wallet', bind_wallet,
    'reply', to_jsonb(new_reply), 'reply_parts', reply_parts, 'message', to_jsonb(new_message), 'message_parts', message_parts));
begin
  for attempt in 1..100 loop
    begin
      select c.outcome, c.body into outcome, body from create_payments(array[new_payment.merchant_id], creation) c;
      if outcome is not null then return; end if;
    exception when unique_violation then
      get stacked diagnostics violated = constraint_name;
      if violated <> 'wallet_pkey' then raise; end if;
      -- Another merchant has bound the wallet meanwhile, which the next attempt sees.
      continue;
    end;
    perform from gate where merchant_id = new_payment.merchant_id and policy_version > 0 for update;
    if not found then outcome := 'unknown_merchant'; return; end if;
    -- Only who has its gate waits for a price, so that no two wait for each other.
    perform case when new_payment.requested_amount is not null then pg_advisory_xact_lock(price)
                 when new_payment.amount_units % 10000 = 0 then pg_advisory_xact_lock_shared(price) end;
  end loop;
  raise lock_not_available using message = 'others took every amount that was chosen';
end $$;
