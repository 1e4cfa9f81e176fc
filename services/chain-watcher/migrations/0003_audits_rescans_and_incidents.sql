-- The last final block that was read once more through another endpoint. An existing scan begins where it is: what is older was
-- believed long ago, and a rescan reads it when somebody asks.
alter table cursor
  add column audited_number bigint,
  -- Why the network stands still, in a sentence for an operator.
  add column halt_reason text,
  add check (halt_reason is null or halted_at is not null);
update cursor set audited_number = final_number;

-- The kinds grow with the code, and what may follow from one is decided there.
alter table incident drop constraint incident_kind_check;
alter table incident add check (kind in ('fork_below_finalized', 'confirmed_transfers_retracted', 'transfer_missed',
  'transfer_unseen_by_audit', 'endpoints_disagree'));
alter table incident
  -- What it is about, among incidents of its kind on its network.
  add column cause text,
  -- How often the cause has shown itself while this was open, and when it did last.
  add column times integer not null default 1 check (times > 0),
  add column last_seen_at timestamptz,
  add column resolved_by text,
  add column resolved_reason text;
update incident set cause = incident_id::text, last_seen_at = raised_at;
alter table incident
  alter column cause set not null,
  alter column last_seen_at set not null;
drop index incident_open;
-- One open incident for one cause, however often it shows itself.
create unique index incident_open_cause on incident (network, kind, cause) where resolved_at is null;
create index incident_newest on incident (raised_at, incident_id);

-- A reorg asks which watches ended with the blocks it takes away.
create index watch_ended on watch (network, ended_through) where state = 'ended';

-- Ranges of blocks that an operator wants read again. The leader works them off, oldest first.
create table rescan (
  rescan_id uuid primary key default gen_random_uuid(),
  network text not null,
  actor text not null,
  reason text not null,
  requested_at timestamptz not null default clock_timestamp(),
  -- The first block, or the moment of chain time whose first block it is; the leader finds out which.
  from_block bigint check (from_block >= 0),
  since timestamptz,
  -- The last block. What is asked for may be open or not final yet; what is worked off ends at a final block.
  to_block bigint,
  -- The next block to read; null until the leader has begun.
  next_block bigint,
  -- Transfers that were not known before.
  found integer not null default 0 check (found >= 0),
  state text not null default 'waiting' check (state in ('waiting', 'running', 'done', 'failed')),
  -- What went wrong last: for a failed one the reason, for a running one what it waits to be over.
  error text,
  -- Tries in a row that went wrong for want of the blocks.
  failed_tries integer not null default 0 check (failed_tries >= 0),
  finished_at timestamptz,
  check (from_block is not null or since is not null),
  check (state = 'waiting' or state = 'failed' or (from_block is not null and to_block is not null and next_block is not null)),
  check ((finished_at is not null) = (state in ('done', 'failed'))),
  check (state <> 'failed' or error is not null)
);
create index rescan_unfinished on rescan (network, requested_at) where state in ('waiting', 'running');
create index rescan_newest on rescan (network, requested_at);

-- Each time an operator let a halted network go on, and what became of it.
create table resumption (
  resumption_id uuid primary key default gen_random_uuid(),
  network text not null,
  actor text not null,
  reason text not null,
  resumed_at timestamptz not null default clock_timestamp(),
  halted_at timestamptz not null,
  -- Whether the operator takes the nodes' chain for the right one, also below what had been final.
  accept_fork boolean not null,
  -- What that permission was used for; null as long as it waits for its one use.
  outcome text check (outcome in ('walked_back', 'no_shared_block', 'not_needed', 'replaced')),
  outcome_at timestamptz,
  -- Of a walk back: the block that both chains share.
  ancestor_number bigint,
  check (accept_fork or outcome is null),
  check ((outcome is null) = (outcome_at is null))
);
create unique index resumption_open on resumption (network) where accept_fork and outcome is null;
create index resumption_newest on resumption (resumed_at);
