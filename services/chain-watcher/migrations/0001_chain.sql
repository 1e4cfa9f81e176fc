-- Where the scan of each network stands. One row a network; every commit of a scan goes through it.
create table cursor (
  network text primary key,
  -- Grows with every change of leader. A commit that names an older epoch matches no row: the fence against a leader that
  -- was paused and does not know it has been replaced.
  epoch bigint not null,
  -- The last block scanned. Null until the first start has chosen where to begin.
  number bigint,
  hash bytea check (octet_length(hash) = 32),
  timestamp timestamptz,
  -- The last block the node had when we last looked.
  head_number bigint,
  -- The last scanned block that the chain itself calls final. Never goes back; a fork below it stops the network.
  finalized_number bigint,
  -- Everything below this block's timestamp is scanned without gap and deep enough to confirm.
  final_number bigint,
  final_timestamp timestamptz,
  -- Set when the network has been stopped until an operator looks at its incident.
  halted_at timestamptz,
  updated_at timestamptz not null default now()
);

-- The end of each chain as we scanned it, kept while it may still be reorganised away and a little longer.
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
  -- Transfers in blocks from (shortly before) this moment on are known once the state says so.
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
-- The leader asks for these at every look at the chain, so they must not cost a walk over the whole table.
create index watch_new on watch (network, watched_from) where state = 'new';
create index watch_backfilling on watch (network, backfill_next) where state = 'backfilling';
create index watch_until on watch (network, watched_until) where state = 'watching';

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
  -- Grows with everything said of (network, transaction_id, transaction_event_index), across blocks.
  version integer not null check (version > 0),
  first_seen_at timestamptz not null default now(),
  changed_at timestamptz not null default now(),
  primary key (network, transaction_id, transaction_event_index, block_hash)
);
-- One transfer counts once: a transaction mined again in another block is only taken after the first block was orphaned.
create unique index transfer_counted on transfer (network, transaction_id, transaction_event_index)
  where phase <> 'retracted';
create index transfer_block on transfer (network, block_number) where phase <> 'retracted';
create index transfer_unconfirmed on transfer (network, block_number) where phase = 'seen';
create index transfer_recipient on transfer (network, recipient, block_timestamp) where phase <> 'retracted';

-- What an operator has to look at. Never deleted; resolved_at says that somebody has.
create table incident (
  incident_id uuid primary key default gen_random_uuid(),
  network text not null,
  kind text not null check (kind in ('fork_below_finalized', 'confirmed_transfers_retracted')),
  detail jsonb not null,
  raised_at timestamptz not null default now(),
  resolved_at timestamptz
);
create index incident_open on incident (network, raised_at) where resolved_at is null;
