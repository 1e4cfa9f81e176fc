-- Where the notices of a merchant go.
create table merchant (
  merchant_id   text primary key,
  language      text not null,
  email         text[] not null,
  telegram_chat text,
  -- The id of the signing key in sealed_secret.
  key_id        text,
  changed_by    text not null,
  changed_at    timestamptz not null default now(),
  -- When a person last sent test notices.
  tested_at     timestamptz
);

-- Secrets of merchants, sealed with NOTICES_ENCRYPTION_KEY: the signing key of a merchant's webhooks, under the key's id, and the URL of its
-- Slack webhook, under `slack` and the merchant's id.
create table sealed_secret (
  secret_id         text primary key,
  merchant_id       text not null references merchant,
  secret_encrypted  bytea not null,
  encryption_key_id text not null
);

create index sealed_secret_of_merchant on sealed_secret (merchant_id);

-- One event for one channel: what is told, and the progress of telling it. `content` is null once it is over; the row stays, so that the same
-- event is not told again.
create table notice (
  merchant_id     text not null references merchant,
  event_id        text not null,
  channel         text not null check (channel in ('email', 'telegram', 'slack')),
  content         jsonb,
  state           text not null default 'waiting' check (state in ('waiting', 'sent', 'failed')),
  -- The earliest time that the merchant's limit an hour allows.
  due_at          timestamptz not null,
  -- While a process sends it, the time at which another one may take it.
  next_attempt_at timestamptz not null,
  attempts        integer not null default 0,
  problem         text,
  ended_at        timestamptz,
  primary key (merchant_id, event_id, channel),
  check ((state = 'waiting') = (content is not null))
);

create index notice_waiting on notice (channel, merchant_id, next_attempt_at) where state = 'waiting';
create index notice_pace on notice (merchant_id, channel, due_at desc);
create index notice_failed on notice (merchant_id, channel, ended_at desc) where state = 'failed';
create index notice_ended on notice (ended_at) where state <> 'waiting';
