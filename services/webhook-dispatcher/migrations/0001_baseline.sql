-- Keys that merchants' events are signed with. A replaced key keeps its row, so that a key id in an old attempt can still be explained,
-- but loses its secret.
create table signing_key (
  key_id            text primary key,
  merchant_id       text not null,
  -- AES-256-GCM: nonce, ciphertext, tag. The clear text never reaches the database.
  secret_encrypted  bytea,
  -- Which encryption key sealed it, so that a rotation of that key finds what is left to do.
  encryption_key_id text,
  created_at        timestamptz not null default now(),
  retired_at        timestamptz,
  constraint signing_key_secret check (
    (retired_at is null) = (secret_encrypted is not null and encryption_key_id is not null)
  )
);

create unique index signing_key_active on signing_key (merchant_id) where retired_at is null;

-- Where a merchant's events go: one row a merchant, never deleted.
create table endpoint (
  merchant_id   text primary key,
  -- As the merchant sent it.
  url           text not null check (length(url) <= 2048),
  -- Lowercase host name or address: attempts in flight are limited per host.
  host          text not null,
  -- Checked at commit: of two concurrent first PUTs only the one that inserts the endpoint inserts its key.
  active_key_id text not null references signing_key deferrable initially deferred,
  version       integer not null default 1,
  created_at    timestamptz not null default now(),
  updated_at    timestamptz not null default now()
);

-- One event per paid payment; its row never changes.
create table event (
  event_id    text primary key,
  payment_id  text not null unique,
  merchant_id text not null,
  -- The exact bytes that every attempt signs and sends.
  body        bytea not null,
  -- W3C traceparent of the span in which it was written, for its attempts. Null where that is not exported.
  traceparent text,
  created_at  timestamptz not null default now()
);

-- The progress of an event. next_attempt_at is when it is due; while lease_id is set, the same column is when the lease lapses. So "due"
-- is one comparison, and nothing has to clean up after a killed process.
create table delivery (
  event_id         text primary key references event,
  merchant_id      text not null,
  status           text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  -- Incremented by each retry of the merchant or an operator.
  cycle            integer not null default 1,
  -- When the cycle started: events of a receiver that never recovers are given up by their age.
  cycle_started_at timestamptz not null default now(),
  -- Attempts of this cycle that ended.
  attempts         integer not null default 0,
  -- Leases that lapsed. They are our fault, not the receiver's, so they are no attempts.
  interruptions    integer not null default 0,
  next_attempt_at  timestamptz,
  lease_id         uuid,
  created_at       timestamptz not null default now(),
  last_attempt_at  timestamptz,
  delivered_at     timestamptz,
  error_category   text,
  constraint delivery_due check ((status = 'pending') = (next_attempt_at is not null)),
  constraint delivery_lease check (lease_id is null or status = 'pending'),
  constraint delivery_delivered check ((status = 'delivered') = (delivered_at is not null)),
  constraint delivery_error check (case status when 'failed' then error_category is not null
                                               when 'delivered' then error_category is null else true end)
)
-- Every row is updated two or three times soon after its insert.
with (fillfactor = 70);

create index delivery_pending on delivery (merchant_id, next_attempt_at) where status = 'pending';
-- Operators page through failed events, oldest first: ids of later events sort later.
create index delivery_failed_in_order on delivery (event_id) where status = 'failed';
-- The failed events of one merchant, without reading all its deliveries.
create index delivery_failed_of_merchant on delivery (merchant_id, event_id) where status = 'failed';

-- A merchant's own queue, with the circuit breaker of its receiver. The claim goes from lane to lane, so no merchant's backlog is
-- scanned to find another's event.
create table lane (
  merchant_id    text primary key,
  -- When a claim may look at the lane; null when nothing pends. It is at most the earliest next_attempt_at of its pending deliveries or,
  -- if later, open_until. Too early costs one claim without a result, too late would forget an event: every statement that moves a delivery
  -- forward updates its lane in the same transaction.
  next_due_at    timestamptz,
  -- The account is blocked: its deliveries wait.
  held           boolean not null default false,
  -- Of the newest account status that was applied; older ones are ignored.
  status_version integer not null default 0,
  -- closed      healthy: the ordinary limit of attempts in flight holds
  -- open        the receiver keeps failing: no attempt before open_until, then one probe
  -- half_open   the probe is in flight, and open_until is its lease
  -- recovering  the probe succeeded: each process may have recovery_limit attempts in flight, doubled by every success
  circuit_state  text not null default 'closed' check (circuit_state in ('closed', 'open', 'half_open', 'recovering')),
  open_until     timestamptz,
  recovery_limit integer,
  -- How often the circuit opened since it was last closed: each time it stays open twice as long.
  times_opened   integer not null default 0,
  -- Failures since the last success, and when the first of them was stored.
  failures       integer not null default 0,
  failing_since  timestamptz,
  -- Of the last failure; kept when the receiver recovers.
  error_category text,
  constraint lane_open check ((circuit_state in ('open', 'half_open')) = (open_until is not null)),
  constraint lane_recovering check ((circuit_state = 'recovering') = (recovery_limit is not null)),
  constraint lane_failing check ((failures = 0) = (failing_since is null))
)
with (fillfactor = 70);

create index lane_due on lane (next_due_at) where next_due_at is not null and not held;
create index lane_failing_since on lane (failing_since) where failing_since is not null;

-- Every POST that ended, for finding faults. Never the response body.
create table attempt (
  event_id       text not null,
  -- Part of the key because an attempt's number is not unique: after an interruption the same number is used again.
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

-- For rows outside every month's partition; empty as long as the partitions are created in time.
create table attempt_default partition of attempt default;

-- Changes to a merchant's endpoint, key or events. Rows are never updated or deleted.
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
