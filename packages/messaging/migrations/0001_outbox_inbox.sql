-- What this service says to the others. A row is written in the transaction of the change it tells of, and deleted once
-- RabbitMQ has confirmed it, so the table is nearly empty while RabbitMQ is up.
create table outbox (
  message_id uuid primary key,
  name text not null,
  version integer not null,
  -- For sharding later: every row of a merchant can live on the merchant's shard.
  merchant_id text not null,
  -- The exact JSON text that is sent. Text rather than jsonb, so that nothing re-writes it on the way.
  body text not null,
  -- The request that caused it, which is what its traces are searched by.
  request_id text not null,
  created_at timestamptz not null default clock_timestamp(),
  -- A relay that takes the row writes itself and a time here; when that time has passed, another may take it.
  claimed_by uuid,
  claimed_until timestamptz not null default '-infinity'
)
-- Every row is updated once (claimed) and deleted soon after. Spare room keeps that update on its page and out of the
-- index, and vacuum comes by the number of dead rows, because a share of "nearly empty" is nothing.
with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- The oldest first. claimed_until is in no index on purpose: see above.
create index outbox_created_at on outbox (created_at);

-- What this service has taken. The row is written in the transaction of the message's effect, which makes a message that
-- arrives twice take effect once.
create table inbox (
  handler text not null,
  message_id uuid not null,
  received_at timestamptz not null default now(),
  primary key (handler, message_id)
);

-- For the clean-up of old rows.
create index inbox_received_at on inbox (received_at);
