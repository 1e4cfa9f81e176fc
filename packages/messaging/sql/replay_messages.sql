-- Puts every message sent since a time back into the outbox, from which it is published with its old id. For restores: see
-- docs/backup.md. Running it twice, or from too early a time, changes nothing as long as receivers still remember what they
-- handled (7 days). Returns the number of messages.
create or replace function replay_messages(since timestamptz) returns bigint language sql
set search_path from current as $$
  with again as (
    delete from sent_message where created_at >= since
    returning message_id, name, version, merchant_id, body, request_id, created_at
  ), put_back as (
    insert into outbox (message_id, name, version, merchant_id, body, request_id, created_at)
    select message_id, name, version, merchant_id, body, request_id, created_at from again
    on conflict (message_id) do nothing
    returning 1
  )
  select count(*) from put_back
$$;
