-- Where the scan of each network stands. One row a network; every commit of a scan goes through it.
create table cursor (
  network text primary key,
  -- Grows with every change of leader. A commit that names an older epoch matches no row: the fence against a leader that
  -- was paused and does not know it has been replaced.
  epoch bigint not null,
  -- The last block scanned. Null until the first start has chosen a block to start from.
  number bigint,
  hash bytea check (octet_length(hash) = 32),
  timestamp timestamptz,
  -- The newest block of the node that was asked last.
  head_number bigint,
  -- The last scanned block that the chain itself calls final. Never goes back; a fork below it halts the network.
  finalized_number bigint,
  -- Everything below this block's timestamp is scanned without gap and deep enough to confirm.
  final_number bigint,
  final_timestamp timestamptz,
  -- The same for transfers above the network's cap, which also wait until the chain itself calls their block final.
  large_final_number bigint,
  large_final_timestamp timestamptz,
  -- The last final block that was read a second time.
  audited_number bigint,
  -- Set while the network waits for an operator to look at its incident; the reason is a sentence for that operator.
  halted_at timestamptz,
  halt_reason text,
  state text not null generated always as (
    case when halted_at is not null then 'halted' when number is null then 'new' else 'scanning' end
  ) stored,
  updated_at timestamptz not null default now(),
  check (halt_reason is null or halted_at is not null)
);

-- The end of each chain as it was scanned, kept while it may still be reorganised away and a little longer.
create table block (
  network text not null,
  number bigint not null,
  hash bytea not null check (octet_length(hash) = 32),
  parent_hash bytea not null check (octet_length(parent_hash) = 32),
  timestamp timestamptz not null,
  canonical boolean not null,
  primary key (network, hash)
);
create unique index block_canonical_number on block (network, number) where canonical;
create index block_number on block (network, number);

-- The wallets whose transfers matter. One row a wallet, however many payments wait on it.
create table watch (
  network text not null,
  address bytea not null check (octet_length(address) = 20),
  merchant_id text not null,
  -- Transfers in blocks from (shortly before) this time on are known once the back-fill is over.
  watched_from timestamptz not null,
  -- Chain time up to which to keep watching; grows with every payment on the wallet.
  watched_until timestamptz not null,
  -- new: the leader has not seen it. backfilling: new blocks are matched, older ones are being read again.
  -- watching: nothing is missing since watched_from. ended: nothing is missing up to ended_through.
  state text not null check (state in ('new', 'backfilling', 'watching', 'ended')),
  backfill_next bigint,
  backfill_to bigint,
  ended_through timestamptz,
  primary key (network, address),
  check ((state = 'backfilling') = (backfill_next is not null and backfill_to is not null)),
  check ((state = 'ended') = (ended_through is not null))
);
-- The leader asks for these at every poll, so they must not cost a walk over the whole table.
create index watch_new on watch (network, watched_from) where state = 'new';
create index watch_backfilling on watch (network, backfill_next) where state = 'backfilling';
create index watch_until on watch (network, watched_until) where state = 'watching';
-- A reorg asks which watches ended with the blocks it takes away.
create index watch_ended on watch (network, ended_through) where state = 'ended';

-- Every USDT transfer to a watched wallet, in every block that ever held it.
create table transfer (
  network text not null,
  transaction_id text not null check (transaction_id ~ '^[0-9a-f]{64}$'),
  -- Position of the event in its receipt's full list, from 0.
  transaction_event_index integer not null check (transaction_event_index >= 0),
  block_hash bytea not null check (octet_length(block_hash) = 32),
  block_number bigint not null,
  block_timestamp timestamptz not null,
  merchant_id text not null,
  sender bytea not null check (octet_length(sender) = 20),
  recipient bytea not null check (octet_length(recipient) = 20),
  -- Base units of the token; a uint256 has at most 78 digits.
  amount_units numeric(78) not null check (amount_units > 0),
  phase text not null check (phase in ('seen', 'confirmed', 'retracted')),
  -- Grows with every message about (network, transaction_id, transaction_event_index), across blocks.
  version integer not null check (version > 0),
  first_seen_at timestamptz not null default now(),
  changed_at timestamptz not null default now(),
  primary key (network, transaction_id, transaction_event_index, block_hash)
);
-- One transfer counts once: a transaction mined again in another block is stored only after the first block was orphaned.
create unique index transfer_counted on transfer (network, transaction_id, transaction_event_index)
  where phase <> 'retracted';
create index transfer_block on transfer (network, block_number) where phase <> 'retracted';
create index transfer_unconfirmed on transfer (network, block_number) where phase = 'seen';
create index transfer_recipient on transfer (network, recipient, block_timestamp) where phase <> 'retracted';

-- What an operator has to look at. Never deleted; resolved_at is set once an operator has looked.
create table incident (
  incident_id uuid primary key default gen_random_uuid(),
  network text not null,
  kind text not null check (kind in ('fork_below_finalized', 'confirmed_transfers_retracted', 'transfer_missed',
    'transfer_unseen_by_audit', 'endpoints_disagree')),
  -- What it is about, among incidents of its kind on its network.
  cause text not null,
  detail jsonb not null,
  opened_at timestamptz not null default now(),
  -- How often the cause has shown itself while this was open, and when it did last.
  times integer not null default 1 check (times > 0),
  last_seen_at timestamptz not null,
  resolved_at timestamptz,
  resolved_by text,
  resolved_reason text
);
-- One open incident for one cause, however often it shows itself.
create unique index incident_open_cause on incident (network, kind, cause) where resolved_at is null;
create index incident_newest on incident (opened_at, incident_id);

-- Ranges of blocks that an operator wants read again. The leader works them off, oldest first.
create table rescan (
  rescan_id uuid primary key default gen_random_uuid(),
  network text not null,
  actor text not null,
  reason text not null,
  requested_at timestamptz not null default clock_timestamp(),
  -- The first block, or the chain time whose first block it is; the leader finds out which.
  from_block bigint check (from_block >= 0),
  since timestamptz,
  -- The last block. What is asked for may be open or not final yet; what is worked off ends at a final block.
  to_block bigint,
  -- The next block to read; null until the leader has started.
  next_block bigint,
  -- Transfers that were not known before.
  found integer not null default 0 check (found >= 0),
  state text not null default 'waiting' check (state in ('waiting', 'running', 'done', 'failed')),
  -- What went wrong last: for a failed one the reason, for a running one what it waits for.
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
  -- What that permission was used for; null until it has been used, which it is once.
  outcome text check (outcome in ('walked_back', 'no_shared_block', 'not_needed', 'replaced')),
  outcome_at timestamptz,
  -- Of a walk back: the block that both chains share.
  ancestor_number bigint,
  check (accept_fork or outcome is null),
  check ((outcome is null) = (outcome_at is null))
);
create unique index resumption_open on resumption (network) where accept_fork and outcome is null;
create index resumption_newest on resumption (resumed_at);

-- Payments that are traced. A transfer may come long after its payment was created, to a process that never saw that message; its
-- spans belong to the payment's trace. Only what is exported has a row, so this table is small, and empty where nothing is traced.
create table traced_payment (
  network text not null,
  address bytea not null check (octet_length(address) = 20),
  -- Millionths of a USDT. With network and wallet it is the slot, which at most one unfinished payment has; the last one counts.
  amount_units bigint not null,
  -- W3C traceparent of the span in which the payment's message was handled.
  traceparent text not null,
  received_at timestamptz not null default now(),
  forget_at timestamptz not null,
  primary key (network, address, amount_units)
);
create index traced_payment_forget_at on traced_payment (forget_at);
