-- Who may create payments, the replies to creations, and who owns which wallet.

-- One row per merchant: the newest policy from quota, and the usage counted against it. A creation locks this row, so creations of
-- one merchant happen one after the other and no limit can be exceeded.
-- policy_version 0: no policy from quota has arrived yet, and the policy columns mean nothing.
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
  -- Once true it stays true: an endpoint can be changed, never removed.
  webhook_ok         boolean not null default false,
  used_lifetime      integer not null default 0,
  -- used_lifetime when the package started; usage of the package is the difference.
  package_base       integer not null default 0 check (package_base between 0 and used_lifetime),
  -- The UTC day that used_today counts; on any other day the count is 0.
  used_day           date,
  used_today         integer not null default 0 check (used_today between 0 and used_lifetime)
) with (fillfactor = 50); -- No counter is indexed, so with room on the page an update touches no index.

-- The first reply to each Idempotency-Key, to the byte. Only successes are saved.
-- One partition per month, so that old replies are dropped with their table. The gate's lock keeps (merchant_id, idempotency_key)
-- unique: a reply is searched, and saved, only while holding it.
create table idempotent_reply (
  merchant_id     text collate "C" not null,
  idempotency_key text collate "C" not null,
  created_at      timestamptz(3) not null,
  -- SHA-256 of the validated request: the same values under the same key are a replay, other values a conflict.
  fingerprint     bytea not null,
  body            bytea not null,
  primary key (merchant_id, idempotency_key, created_at)
) partition by range (created_at);

-- A wallet belongs to the first merchant that created a payment on it, until an operator releases it.
create table wallet (
  address     text collate "C" primary key,
  merchant_id text collate "C" not null,
  bound_at    timestamptz(3) not null
);

-- Who released which wallet from which merchant, and why. Never updated, never deleted.
create table wallet_release (
  release_id  uuid primary key default gen_random_uuid(),
  address     text not null,
  merchant_id text not null,
  actor       text not null,
  reason      text not null,
  released_at timestamptz(3) not null
);

create index wallet_release_merchant on wallet_release (merchant_id, released_at);
create index wallet_release_address on wallet_release (address, released_at);

-- Payments, and every transfer that reached a watched wallet.

create table payment (
  payment_id   text collate "C" primary key,
  merchant_id  text collate "C" not null,
  public_token text not null,
  -- The public token is looked up by its hash, so that no index holds it in clear.
  token_sha256 bytea not null unique,
  status       text not null default 'PENDING' check (status in ('PENDING', 'CHECKING', 'PAID', 'EXPIRED', 'CANCELLED')),
  network      text collate "C" not null,
  -- Canonical address.
  recipient    text collate "C" not null,
  -- The merchant's own text; amount_units is its value in millionths of a USDT.
  amount       text not null,
  amount_units bigint not null check (amount_units > 0),
  description  text not null,
  created_at   timestamptz(3) not null,
  expires_at   timestamptz(3) not null check (expires_at > created_at),
  paid_at      timestamptz(3),
  -- Stays when money that came in time turns the cancelled payment into a paid one: the payment window still ended here.
  cancelled_at timestamptz(3),
  -- When the expiry loop may next ask the chain about this payment, once it is past expires_at. Claiming it moves this ahead.
  expiry_check_at timestamptz(3) not null,
  constraint payment_paid_when_paid check ((status = 'PAID') = (paid_at is not null)),
  constraint payment_cancelled_when_cancelled check (status <> 'CANCELLED' or cancelled_at is not null)
) with (fillfactor = 85);

-- The slot: the amount on the address identifies who paid, so only one unfinished payment may wait for it, of any merchant.
create unique index payment_slot on payment (network, recipient, amount_units) where status in ('PENDING', 'CHECKING');
-- All payments a slot ever had, in order: which of them a transfer pays is a question of time.
create index payment_slot_history on payment (network, recipient, amount_units, created_at);
-- A merchant's lists, newest first.
create index payment_merchant on payment (merchant_id, created_at, payment_id);
-- A list of one status reads this in order, from wherever its page starts. Without it, a rare status (the few CANCELLED among a
-- merchant's hundred thousand PAID) means reading the whole table, or every merchant's unfinished payments.
-- It costs status changes nothing: they cannot be HOT updates anyway, because the slot's index depends on the status.
create index payment_merchant_status on payment (merchant_id, status, created_at, payment_id);
-- For the expiry loop. It includes CHECKING payments: if the message of their transfer's end was lost, asking settles them.
create index payment_overdue on payment (network, expires_at) where status in ('PENDING', 'CHECKING');

-- The ledger: the latest version of each transfer to a watched wallet, and what it pays.
create table transfer (
  network                 text collate "C" not null,
  transaction_id          text collate "C" not null,
  transaction_event_index integer not null,
  -- chain-watcher's version of this transfer; messages that are not newer are ignored.
  version                 bigint not null,
  phase                   text not null check (phase in ('seen', 'confirmed', 'retracted')),
  merchant_id             text collate "C" not null,
  block_number            bigint not null,
  block_hash              text not null,
  block_timestamp         timestamptz(3) not null,
  sender                  text not null,
  recipient               text collate "C" not null,
  -- Base units of the token, which has `decimals` decimals.
  amount_units            numeric(78, 0) not null,
  decimals                integer not null,
  confirmations           integer not null,
  confirmations_required  integer not null,
  -- The payment it pays, or is about to. Unique: a payment is paid by one transfer.
  payment_id              text collate "C" unique references payment,
  -- Otherwise the payment it was probably meant for, and why it does not pay it.
  related_payment_id      text collate "C" references payment,
  reason                  text check (reason in ('underpaid', 'overpaid', 'late', 'after_cancel', 'duplicate')),
  observed_at             timestamptz(3) not null,
  -- matched: pays payment_id, or is about to. retracted: is not on the chain. pending: came in time for related_payment_id, which is
  -- closed, and pays it as soon as it is confirmed. unmatched: pays nothing.
  match_status            text not null generated always as (
    case when payment_id is not null then 'matched'
         when phase = 'retracted' then 'retracted'
         when related_payment_id is not null and reason is null then 'pending'
         else 'unmatched' end) stored,
  primary key (network, transaction_id, transaction_event_index),
  constraint transfer_pays_or_not check (payment_id is null or (related_payment_id is null and reason is null))
);

-- Details show the newest transfers meant for a payment: in this order the index gives them without a sort.
create index transfer_related_newest on transfer (related_payment_id, block_timestamp) where related_payment_id is not null;
-- Searches on a wallet want the transfers that pay nothing, which are few among all transfers of a busy wallet.
create index transfer_pays_nothing on transfer (network, recipient, block_timestamp) where match_status in ('pending', 'unmatched');

-- What operators decide.

-- Who accepted which transfer for which payment, why, and what the chain showed of it then. Never updated, never deleted.
create table transfer_acceptance (
  acceptance_id           uuid primary key default gen_random_uuid(),
  payment_id              text collate "C" not null unique references payment,
  merchant_id             text collate "C" not null,
  -- The payment's status until then.
  status_before           text not null check (status_before in ('PENDING', 'EXPIRED', 'CANCELLED')),
  network                 text collate "C" not null,
  transaction_id          text collate "C" not null,
  transaction_event_index integer not null,
  -- Why it did not pay by itself; null when nothing was wrong with it but that no payment waited.
  unmatched_reason        text check (unmatched_reason in ('underpaid', 'overpaid', 'late', 'after_cancel', 'duplicate')),
  -- What was accepted. When the chain later shows something else of this transfer, that is an incident.
  recipient               text collate "C" not null,
  amount_units            numeric(78, 0) not null,
  decimals                integer not null,
  block_number            bigint not null,
  block_hash              text not null,
  block_timestamp         timestamptz(3) not null,
  confirmations           integer not null,
  actor                   text not null,
  reason                  text not null,
  accepted_at             timestamptz(3) not null,
  unique (network, transaction_id, transaction_event_index),
  foreign key (network, transaction_id, transaction_event_index) references transfer
);

create index transfer_acceptance_merchant on transfer_acceptance (merchant_id, accepted_at);

-- What a person has to decide. Nothing is undone automatically.
create table incident (
  incident_id             uuid primary key default gen_random_uuid(),
  kind                    text not null check (kind in ('paid_transfer_gone')),
  payment_id              text collate "C" not null references payment,
  merchant_id             text collate "C" not null,
  network                 text not null,
  transaction_id          text not null,
  transaction_event_index integer not null,
  block_hash              text not null,
  opened_at               timestamptz(3) not null,
  -- Null, all three, while the incident is open.
  resolved_at             timestamptz(3),
  resolved_by             text,
  resolved_reason         text,
  constraint incident_resolution_is_whole
    check ((resolved_at is null) = (resolved_by is null) and (resolved_at is null) = (resolved_reason is null))
);

create index incident_payment on incident (payment_id);
-- The operator's lists, newest first; the open ones are also counted every few seconds.
create index incident_opened on incident (opened_at, incident_id);
create index incident_open on incident (opened_at, incident_id) where resolved_at is null;
create index incident_resolved on incident (merchant_id, resolved_at) where resolved_at is not null;
