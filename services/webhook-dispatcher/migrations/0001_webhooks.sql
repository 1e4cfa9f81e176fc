-- What a merchant signs its events with. Replaced keys keep their row, so that a key id seen in an old attempt still means
-- something, but lose their secret: nothing needs it any more.
create table signing_key (
  key_id            text primary key,
  merchant_id       text not null,
  -- AES-256-GCM: nonce, ciphertext, tag. The clear text never reaches the database.
  secret_encrypted  bytea,
  -- Which encryption key sealed it, so that a rotation of that key can find what is left to do.
  encryption_key_id text,
  created_at        timestamptz not null default now(),
  retired_at        timestamptz,
  constraint signing_key_secret check (
    (retired_at is null) = (secret_encrypted is not null and encryption_key_id is not null)
  )
);

create unique index signing_key_active on signing_key (merchant_id) where retired_at is null;

-- Where a merchant's events go. One row a merchant; it is never deleted.
create table endpoint (
  merchant_id   text primary key,
  -- As the merchant sent it.
  url           text not null check (length(url) <= 2048),
  -- Lowercase host name or address: attempts in flight are bounded per receiver.
  host          text not null,
  -- Checked at commit, because of two first PUTs at once only the one that made the endpoint makes a key.
  active_key_id text not null references signing_key deferrable initially deferred,
  version       integer not null default 1,
  created_at    timestamptz not null default now(),
  updated_at    timestamptz not null default now()
);

-- One event a paid payment. Nothing in it ever changes.
create table event (
  event_id    text primary key,
  payment_id  text not null unique,
  merchant_id text not null,
  -- The exact bytes that are signed and sent, at every attempt.
  body        bytea not null,
  created_at  timestamptz not null default now()
);

-- How far an event is. next_attempt_at is when it is due; while lease_id says that a process is at it, the same column is when
-- that process counts as dead. So "due" is one comparison, and nothing has to clean up after a kill.
create table delivery (
  event_id        text primary key references event,
  merchant_id     text not null,
  status          text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  -- Grows with each retry by the merchant or an operator.
  cycle           integer not null default 1,
  -- Attempts of this cycle that ended.
  attempts        integer not null default 0,
  -- Leases that lapsed. Not the receiver's fault, so they are no attempts.
  interruptions   integer not null default 0,
  next_attempt_at timestamptz,
  lease_id        uuid,
  created_at      timestamptz not null default now(),
  last_attempt_at timestamptz,
  delivered_at    timestamptz,
  error_category  text,
  -- Nothing pends without a due time, and nothing that has ended is due.
  constraint delivery_due check ((status = 'pending') = (next_attempt_at is not null)),
  constraint delivery_lease check (lease_id is null or status = 'pending'),
  constraint delivery_delivered check ((status = 'delivered') = (delivered_at is not null)),
  constraint delivery_error check (case status when 'failed' then error_category is not null
                                               when 'delivered' then error_category is null else true end)
)
-- Every row is updated two or three times soon after it was written.
with (fillfactor = 70);

create index delivery_pending on delivery (merchant_id, next_attempt_at) where status = 'pending';
create index delivery_failed on delivery (created_at) where status = 'failed';

-- A merchant's own queue. The claim goes from lane to lane, so a backlog of one merchant is never walked to find another's event.
create table lane (
  merchant_id    text primary key,
  -- Not later than the earliest next_attempt_at of the lane's pending deliveries; null when there are none. Too early costs one
  -- look, too late would forget an event: whoever moves a delivery forward updates its lane in the same transaction.
  next_due_at    timestamptz,
  -- A blocked account's deliveries wait.
  held           boolean not null default false,
  -- Of the newest account status heard; an older one is old news.
  status_version integer not null default 0
)
with (fillfactor = 70);

create index lane_due on lane (next_due_at) where next_due_at is not null and not held;

-- Every POST that ended, for whoever looks for a fault. Never the response body.
create table attempt (
  event_id       text not null,
  -- Claims are unique in this, attempts of one number are not: after an interruption the number is tried again.
  lease_id       uuid not null,
  started_at     timestamptz not null,
  cycle          integer not null,
  n              integer not null,
  key_id         text not null,
  duration_ms    integer not null,
  http_status    smallint,
  -- Null for a 2xx.
  error_category text,
  remote_ip      inet,
  primary key (event_id, lease_id, started_at)
) partition by range (started_at);

-- Takes what no month's partition takes; empty as long as the partitions are made in time.
create table attempt_default partition of attempt default;

-- Makes the partitions of this month and the next two. Doing it again does nothing; two processes at once take turns.
create function ensure_attempt_partitions() returns void language plpgsql as $$
declare
  month date;
begin
  for month in
    select (date_trunc('month', now() at time zone 'UTC') + n * interval '1 month')::date from generate_series(0, 2) n
  loop
    continue when to_regclass('attempt_' || to_char(month, 'YYYYMM')) is not null;
    perform pg_advisory_xact_lock(hashtextextended('webhooks attempt partitions', 0));
    execute format(
      'create table if not exists %I partition of attempt for values from (%L) to (%L)',
      'attempt_' || to_char(month, 'YYYYMM'),
      to_char(month, 'YYYY-MM-DD') || ' 00:00+00',
      to_char(month + interval '1 month', 'YYYY-MM-DD') || ' 00:00+00'
    );
  end loop;
end
$$;

select ensure_attempt_partitions();

-- What somebody did to a merchant's endpoint, key or event. Never updated, never deleted.
create table audit (
  audit_id    uuid primary key default gen_random_uuid(),
  merchant_id text not null,
  event_id    text,
  action      text not null check (
    action in ('endpoint_configured', 'endpoint_changed', 'key_rotated', 'event_retried', 'event_recovered')
  ),
  -- 'merchant', or the operator's name.
  actor       text not null,
  reason      text,
  request_id  text,
  at          timestamptz not null default now()
);

create index audit_merchant on audit (merchant_id, at);
