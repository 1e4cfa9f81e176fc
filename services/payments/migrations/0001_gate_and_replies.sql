-- What decides a creation: the merchant's gate, the replies already given, and whose wallet it is.

-- One row a merchant: the newest policy heard from quota, and the usage counted against it. A creation locks this row, so all
-- creations of one merchant happen one after the other and no limit can be overrun.
-- policy_version 0 means that quota has not been heard yet: then the policy columns mean nothing.
create table gate (
  merchant_id        text collate "C" primary key,
  policy_version     integer not null default 0 check (policy_version >= 0),
  access_type        text not null default 'beta' check (access_type in ('beta', 'legacy')),
  account_active     boolean not null default false,
  creation_paused    boolean not null default true,
  beta_duration_days integer,
  beta_started_at    timestamptz(3),
  beta_expires_at    timestamptz(3),
  total_limit        integer not null default 0 check (total_limit >= 0),
  daily_limit        integer check (daily_limit >= 0),
  package_number     integer not null default 0 check (package_number >= 0),
  -- Once true it stays true: an endpoint can be changed, never taken away.
  webhook_ok         boolean not null default false,
  used_lifetime      integer not null default 0,
  -- used_lifetime when the package began; usage of the package is the difference.
  package_base       integer not null default 0 check (package_base between 0 and used_lifetime),
  -- The UTC day that used_today counts; another day means that nothing was created today.
  used_day           date,
  used_today         integer not null default 0 check (used_today between 0 and used_lifetime)
) with (fillfactor = 50); -- No counter is indexed, so with room on the page an update touches no index.

-- The first answer to each Idempotency-Key, to the byte. Only a success is saved.
-- One partition a month, so that forgetting old replies is dropping a table. Uniqueness of (merchant_id, idempotency_key) is kept
-- by the gate's lock: a reply is looked for, and saved, only while holding it.
create table idempotent_reply (
  merchant_id     text collate "C" not null,
  idempotency_key text collate "C" not null,
  created_at      timestamptz(3) not null,
  -- SHA-256 of the validated request: the same values under the same key are a replay, other values a conflict.
  fingerprint     bytea not null,
  body            bytea not null,
  primary key (merchant_id, idempotency_key, created_at)
) partition by range (created_at);

-- Makes the partitions of this month and the next two, and drops those whose last reply is over 31 days old.
-- It may be called at any time, by any number of replicas.
create function keep_reply_partitions() returns void language plpgsql as $$
declare
  this_month timestamp := date_trunc('month', now() at time zone 'UTC');
  month timestamp;
  partition_name text;
begin
  perform pg_advisory_xact_lock(hashtextextended('idempotent_reply', 0));
  for month in select generate_series(this_month, this_month + interval '2 months', interval '1 month') loop
    partition_name := 'idempotent_reply_' || to_char(month, 'YYYY_MM');
    if to_regclass(partition_name) is null then
      execute format('create table %I partition of idempotent_reply for values from (%L) to (%L)', partition_name,
                     month at time zone 'UTC', (month + interval '1 month') at time zone 'UTC');
    end if;
  end loop;
  for partition_name in
    select child.relname from pg_inherits join pg_class child on child.oid = inhrelid
     where inhparent = 'idempotent_reply'::regclass
       and child.relname < 'idempotent_reply_' || to_char((now() - interval '31 days') at time zone 'UTC', 'YYYY_MM')
  loop
    execute format('drop table %I', partition_name);
  end loop;
end $$;

select keep_reply_partitions();

-- A wallet belongs to the first merchant that created a payment on it, until an operator releases it.
create table wallet (
  address     text collate "C" primary key,
  merchant_id text collate "C" not null,
  bound_at    timestamptz(3) not null
);

-- Who released which wallet from whom, and why. Never updated, never deleted.
create table wallet_release (
  release_id  uuid primary key default gen_random_uuid(),
  address     text not null,
  merchant_id text not null,
  actor       text not null,
  reason      text not null,
  released_at timestamptz(3) not null
);
