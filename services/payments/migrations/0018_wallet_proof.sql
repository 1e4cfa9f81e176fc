-- When the owner of a wallet proved that it holds its key; null for one that only used it first.
alter table wallet add column proven_at timestamptz(3);

-- What a merchant is to sign with the key of a wallet: one open challenge each. It is deleted when any merchant has proven the wallet.
create table wallet_challenge (
  address     text collate "C" not null,
  merchant_id text collate "C" not null,
  nonce       text not null,
  ends_at     timestamptz(3) not null,
  primary key (address, merchant_id)
);

-- Who proved a wallet, by which signed text, and from whom it was taken. Never updated, never deleted.
create table wallet_proof (
  proof_id           uuid primary key default gen_random_uuid(),
  address            text collate "C" not null,
  merchant_id        text collate "C" not null,
  -- Null when it belonged to nobody else.
  taken_from         text collate "C",
  -- Payments of others that waited on the wallet.
  cancelled_payments integer not null,
  signed_text        text not null,
  signature          text not null,
  actor              text not null,
  reason             text not null,
  proven_at          timestamptz(3) not null
);

create index wallet_proof_address on wallet_proof (address, proven_at);
create index wallet_proof_merchant on wallet_proof (merchant_id, proven_at);
create index wallet_proof_taken_from on wallet_proof (taken_from, proven_at) where taken_from is not null;
