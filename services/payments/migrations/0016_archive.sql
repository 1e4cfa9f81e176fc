-- What a merchant's payments came to that are in the archive and no longer here, for its reports and counters: by UTC day.
create table archived_day (
  merchant_id text collate "C" not null,
  network     text collate "C" not null,
  day         date not null,
  created     integer not null,
  paid        integer not null,
  -- Millionths of a USDT.
  paid_units  numeric not null,
  expired     integer not null,
  cancelled   integer not null,
  primary key (merchant_id, network, day)
);

-- Who removed how many payments that were written to the archive, and why. Never updated, never deleted.
create table archive_removal (
  removal_id uuid primary key default gen_random_uuid(),
  payments   integer not null,
  actor      text not null,
  reason     text not null,
  removed_at timestamptz(3) not null
);

-- The ledger keeps what it knows of a transfer, and which payment it pays, when that payment is only in the archive: it must never pay
-- another one.
alter table transfer
  drop constraint transfer_payment_id_fkey,
  drop constraint transfer_related_payment_id_fkey;
