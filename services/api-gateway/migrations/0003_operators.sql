-- The people who run the system. Names are never given to somebody else, because audits name people by them.
create table operator (
  name text primary key check (name ~ '^[a-z][a-z0-9._-]{1,39}$'),
  role text not null check (role in ('viewer', 'support', 'admin')),
  credential_hash bytea not null unique check (octet_length(credential_hash) = 32),
  created_at timestamptz not null default clock_timestamp(),
  last_used_at timestamptz,
  disabled_at timestamptz
);

create table operator_audit (
  audit_id uuid primary key default gen_random_uuid(),
  operator text not null references operator,
  action text not null,
  actor text not null,
  reason text not null,
  before jsonb,
  after jsonb,
  at timestamptz not null default clock_timestamp()
);

create index operator_audit_at on operator_audit (at);
