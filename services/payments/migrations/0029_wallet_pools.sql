-- Where the addresses of a pool come from: a list, or the extended public key of a wallet's account. The next index belongs to the key on
-- a network, not to the name of a pool, so that no index is given twice. A key stays here when its pool is changed.
create table address_source (
  source_id         bigint generated always as identity primary key,
  merchant_id       text collate "C" not null,
  network           text collate "C" not null,
  kind              text not null check (kind in ('list', 'xpub')),
  -- SHA-256 of the public key and its chain code: two spellings of one key have the same.
  key_sha256        bytea,
  key_encrypted     bytea,
  encryption_key_id text,
  -- The addresses 0/0 to 0/2, so that reading a pool needs no key.
  first_addresses   text[] collate "C",
  -- The first index that is neither given nor in stock.
  next_index        integer not null default 0 check (next_index >= 0),
  created_at        timestamptz(3) not null,
  unique (key_sha256, network),
  constraint address_source_key_is_whole
    check (num_nonnulls(key_sha256, key_encrypted, encryption_key_id, first_addresses) = case kind when 'xpub' then 4 else 0 end)
);

-- A merchant's named pools. Two may have one key, each with its own rest.
create table wallet_pool (
  merchant_id  text collate "C" not null,
  name         text collate "C" not null check (name ~ '^[a-z0-9-]{1,40}$'),
  source_id    bigint not null references address_source,
  -- For how long an address is not given again after its payment ended.
  rest_seconds integer not null check (rest_seconds between 3600 and 604800),
  created_at   timestamptz(3) not null,
  primary key (merchant_id, name)
);

create index wallet_pool_source on wallet_pool (source_id);

-- The addresses of a list; of a key, a small stock of derived addresses, from which a row is deleted when it is given.
create table pool_address (
  source_id bigint not null references address_source on delete cascade,
  -- Canonical.
  address   text collate "C" not null,
  -- The position in the list, or the index of the key's child.
  place     integer not null,
  -- When it may be given again: -infinity for one that was never used, infinity while a payment on it is unfinished.
  free_at   timestamptz not null default '-infinity',
  primary key (source_id, address)
);

create index pool_address_free on pool_address (source_id, free_at, place);
create index pool_address_address on pool_address (address);

-- Who ended the rest of which address early. Never updated, never deleted.
create table wallet_rest_release (
  release_id  uuid primary key default gen_random_uuid(),
  merchant_id text collate "C" not null,
  network     text collate "C" not null,
  address     text collate "C" not null,
  -- The payment after which it rested.
  payment_id  text collate "C" not null,
  actor       text not null,
  reason      text not null,
  released_at timestamptz(3) not null
);

create index wallet_rest_release_merchant on wallet_rest_release (merchant_id, released_at);

-- Which keys moved on to later indexes after a backup was restored. Never updated, never deleted.
create table address_source_move (
  move_id     uuid primary key default gen_random_uuid(),
  source_id   bigint not null references address_source,
  merchant_id text collate "C" not null,
  network     text collate "C" not null,
  from_index  integer not null,
  to_index    integer not null,
  actor       text not null,
  reason      text not null,
  moved_at    timestamptz(3) not null
);

create index address_source_move_merchant on address_source_move (merchant_id, moved_at);
