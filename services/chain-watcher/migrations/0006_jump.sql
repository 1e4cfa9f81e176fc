-- Each time the scan of a network went on at a later block, and what lay between was left to back-filling.
create table jump (
  jump_id uuid primary key default gen_random_uuid(),
  network text not null,
  -- Who asked for it; the service itself where nobody had to.
  actor text not null,
  reason text not null,
  requested_at timestamptz not null default clock_timestamp(),
  -- The block asked for; null for the last final one.
  to_block bigint check (to_block >= 0),
  state text not null default 'waiting' check (state in ('waiting', 'done', 'failed')),
  -- The blocks that were left out, both ends included, and how many wallets have them read.
  left_from bigint,
  left_through bigint,
  wallets integer,
  -- What went wrong last: for a failed one the reason, for a waiting one what it waits for.
  error text,
  finished_at timestamptz,
  check ((finished_at is not null) = (state <> 'waiting')),
  check ((state = 'done') = (left_from is not null and left_through is not null and wallets is not null)),
  check (state <> 'failed' or error is not null)
);
create unique index jump_waiting on jump (network) where state = 'waiting';
create index jump_newest on jump (requested_at);
