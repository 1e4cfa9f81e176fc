-- Merchants, their credentials (as SHA-256 only) and the rate-limit windows.

create table merchant (
  merchant_id text primary key check (merchant_id ~ '^mer_[0-9a-f]{32}$'),
  name text not null check (char_length(name) between 1 and 200),
  status text not null default 'active' check (status in ('active', 'blocked')),
  -- Grows with each change of status, so that a receiver of two changes knows which came last.
  status_version integer not null default 1,
  created_at timestamptz not null default now()
);

-- Written by every authenticated request. It is not a column of merchant, so that this write waits for other requests only: an
-- operator who holds a merchant's row does not hold up the requests that are admitted in one batch with that merchant's.
-- Free room in the page keeps the updates off the index.
create table merchant_activity (
  merchant_id text primary key references merchant,
  last_request_at timestamptz not null
) with (fillfactor = 50);

-- One API key per merchant: a rotation updates it in place, so two rotations at once cannot leave two valid keys.
create table api_key (
  key_hash bytea primary key check (octet_length(key_hash) = 32),
  merchant_id text not null unique references merchant,
  created_at timestamptz not null default now()
);

create table rotation_secret (
  secret_hash bytea primary key check (octet_length(secret_hash) = 32),
  merchant_id text not null unique references merchant,
  created_at timestamptz not null default now()
);

-- Fixed windows that start with their first request. The subject is a merchant's id, or the hex SHA-256 of a public token
-- or rotation secret. A row past its end has no effect and is swept.
create table rate_limit_window (
  scope text not null,
  subject text not null,
  started_at timestamptz not null,
  ends_at timestamptz not null,
  count integer not null,
  primary key (scope, subject)
) with (fillfactor = 50);

create index rate_limit_window_ends_at on rate_limit_window (ends_at);

-- Who changed what about a merchant, and why.
create table merchant_audit (
  audit_id uuid primary key default gen_random_uuid(),
  merchant_id text not null references merchant,
  action text not null,
  actor text not null,
  reason text not null,
  -- The changed fields before and after; never a credential or its hash.
  before jsonb,
  after jsonb,
  at timestamptz not null default clock_timestamp()
);

create index merchant_audit_merchant_id on merchant_audit (merchant_id, at);
