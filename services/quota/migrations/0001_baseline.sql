-- Who may create how many payments. One row a merchant; every change is one policy_version and one row of policy_change.
-- Milliseconds, because that is what the wire carries: a policy read back equals the policy that was announced.
create table policy (
  merchant_id        text primary key,
  policy_version     integer not null check (policy_version >= 1),
  access_type        text not null check (access_type in ('beta', 'legacy')),
  account_active     boolean not null,
  creation_paused    boolean not null,
  beta_duration_days integer check (beta_duration_days >= 1),
  beta_started_at    timestamptz(3),
  beta_expires_at    timestamptz(3),
  total_limit        integer not null check (total_limit >= 0),
  daily_limit        integer check (daily_limit >= 0),
  package_number     integer not null check (package_number >= 1),
  changed_at         timestamptz(3) not null,
  constraint policy_beta_duration check ((access_type = 'beta') = (beta_duration_days is not null)),
  constraint policy_beta_window check (
    case when beta_started_at is null then beta_expires_at is null
         else beta_expires_at = beta_started_at + beta_duration_days * interval '24 hours' end
  ),
  constraint policy_legacy_without_window check (access_type = 'beta' or beta_started_at is null)
);

-- The audit: who changed what, when and why. Never updated, never deleted.
create table policy_change (
  merchant_id    text not null references policy,
  policy_version integer not null,
  -- What the operator asked for, such as 'pause'; before and after are what it changed.
  action         text not null,
  actor          text not null,
  reason         text not null,
  before         jsonb,
  after          jsonb not null,
  changed_at     timestamptz(3) not null,
  primary key (merchant_id, policy_version)
);

-- The newest account status that api-gateway published. It is not a column of policy because it may arrive before the
-- registration; both handlers lock this row first, so neither can miss what the other writes.
create table merchant_status (
  merchant_id    text primary key,
  status         text not null check (status in ('active', 'blocked')),
  status_version integer not null check (status_version >= 0)
);

-- Payments created per merchant and UTC day. History for people: limits are enforced in payments, never from here.
create table usage_day (
  merchant_id      text not null,
  day              date not null,
  payments_created integer not null check (payments_created >= 1),
  primary key (merchant_id, day)
);
