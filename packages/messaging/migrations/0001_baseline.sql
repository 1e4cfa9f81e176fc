-- Messages to publish. A row is written in the transaction of the change it reports, and deleted once RabbitMQ has
-- confirmed it, so the table is nearly empty while RabbitMQ is up.
create table outbox (
  message_id uuid primary key,
  name text not null,
  version integer not null,
  -- For sharding later: every row of a merchant can live on the merchant's shard.
  merchant_id text not null,
  -- The exact JSON text that is sent. Text rather than jsonb, so that nothing re-writes it on the way.
  body text not null,
  -- The request that caused it, by which its traces are found.
  request_id text not null,
  -- W3C traceparent of the span that published it, so that its effects elsewhere join the same trace. Null without tracing.
  traceparent text,
  created_at timestamptz not null default clock_timestamp(),
  -- The lease of the relay that claimed the row. Once it has expired, another relay may claim the row.
  claimed_by uuid,
  claimed_until timestamptz not null default '-infinity'
)
-- Every row is updated once (claimed) and deleted soon after. Spare room keeps that update on its page and out of the
-- index. Vacuum starts at a number of dead rows, because a share of a nearly empty table is too few.
with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- The oldest first. claimed_until is in no index, so that a claim need not update one.
create index outbox_created_at on outbox (created_at);

-- Messages that were handled. The row is written in the transaction of the message's effect, so a message that is
-- delivered twice takes effect once.
create table inbox (
  handler text not null,
  message_id uuid not null,
  received_at timestamptz not null default now(),
  primary key (handler, message_id)
);

-- For the clean-up of old rows.
create index inbox_received_at on inbox (received_at);

-- Messages that left the outbox, kept for some days. A message that RabbitMQ confirmed and no consumer has handled yet is
-- in RabbitMQ alone: should its data be lost, or this database be restored to an earlier state, it is published again from here.
-- Receivers drop what they have handled, because a message keeps its id.
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
-- Rows are inserted at one end and deleted at the other, thousands at a time.
with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 50000, autovacuum_vacuum_insert_scale_factor = 0.5);

-- For replay and clean-up. Inserts go to its right end only, which costs next to nothing; no query needs a single message.
create index sent_message_created_at on sent_message (created_at);
