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
  -- Stays when money that came in time turns the cancelled payment into a paid one: the window still ended here.
  cancelled_at timestamptz(3),
  -- When the expiry loop may next ask the chain about this payment, once it is past expires_at. Claiming it moves this ahead.
  expiry_check_at timestamptz(3) not null,
  constraint payment_paid_when_paid check ((status = 'PAID') = (paid_at is not null)),
  constraint payment_cancelled_when_cancelled check (status <> 'CANCELLED' or cancelled_at is not null)
) with (fillfactor = 85);

-- The slot: the amount on the address tells who paid, so only one unfinished payment may wait for it, whoever's it is.
create unique index payment_slot on payment (network, recipient, amount_units) where status in ('PENDING', 'CHECKING');
-- All payments a slot ever had, in order: which of them a transfer belongs to is a question of time.
create index payment_slot_history on payment (network, recipient, amount_units, created_at);
-- A merchant's lists, newest first.
create index payment_merchant on payment (merchant_id, created_at, payment_id);
-- What the expiry loop looks for. Those it must leave alone for now are few: what became due while the chain turned final.
create index payment_expiry on payment (network, expires_at) where status = 'PENDING';

-- The ledger: what was last said of each transfer to a watched wallet, and what it means.
create table transfer (
  network                 text collate "C" not null,
  transaction_id          text collate "C" not null,
  transaction_event_index integer not null,
  -- chain-watcher's count of what it said of this transfer; anything not newer is ignored.
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
  -- Otherwise the payment it was probably meant for, and why it does not pay it. A null reason beside a related payment: the payment
  -- is closed, the money came in time, and the transfer pays it as soon as it is confirmed.
  related_payment_id      text collate "C" references payment,
  reason                  text check (reason in ('underpaid', 'overpaid', 'late', 'after_cancel', 'duplicate')),
  observed_at             timestamptz(3) not null,
  primary key (network, transaction_id, transaction_event_index),
  constraint transfer_pays_or_not check (payment_id is null or (related_payment_id is null and reason is null))
);

create index transfer_wallet on transfer (network, recipient, block_timestamp);
create index transfer_related on transfer (related_payment_id) where related_payment_id is not null;

-- What a person has to look at. Nothing is undone by itself.
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
  resolved_at             timestamptz(3)
);

create index incident_payment on incident (payment_id);
