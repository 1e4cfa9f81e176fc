-- What left the outbox, kept for some days. A message that RabbitMQ confirmed and nobody has taken yet lies in RabbitMQ alone: should its
-- data be lost, or this database be set back to an earlier moment, it can be said again from here. Receivers drop those that they have
-- taken, because a message keeps its id.
create table sent_message (
  message_id uuid not null,
  name text not null,
  version integer not null,
  merchant_id text not null,
  body text not null,
  request_id text not null,
  -- When it was written into the outbox.
  created_at timestamptz not null
)
-- Rows come at one end and go at the other, some thousands at a time.
with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 50000, autovacuum_vacuum_insert_scale_factor = 0.5);

-- For saying again and for forgetting. It grows at its right end only, which costs next to nothing; nothing looks for single messages.
create index sent_message_created_at on sent_message (created_at);

-- Puts everything that was said since a moment back into the outbox, from which it goes out with its old id. For whoever restores: see
-- docs/backup.md. Doing it twice, or for longer than needed, changes nothing, as long as it is not longer than receivers remember (7 days).
-- Returns how many messages that is.
create function replay_messages(since timestamptz) returns bigint language sql
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
