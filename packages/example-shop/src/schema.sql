-- Applied at every start. A shop that lives longer changes its tables by migrations.

create table if not exists shop_order (
  -- In the customer's address bar, and all that is needed to see the order: so it cannot be guessed.
  order_id uuid primary key default gen_random_uuid(),
  -- For people.
  number bigint not null unique generated always as identity (start with 1001),
  article text not null,
  price numeric(12, 2) not null check (price > 0),
  created_at timestamptz not null default now(),
  -- When a payment was last asked for.
  attempted_at timestamptz not null default now(),
  -- When Quittance was last asked about it.
  checked_at timestamptz not null default now(),
  -- The payment that paid it.
  paid_by text,
  paid_at timestamptz
);

-- Whose browser ordered it, so that ordering the same again leads back to it.
alter table shop_order add column if not exists visitor uuid;
create index if not exists order_of_visitor on shop_order (visitor, created_at);

create index if not exists open_order on shop_order (checked_at) where paid_at is null;

-- An order has another payment after one that expired or was cancelled.
create table if not exists payment (
  payment_id text primary key,
  order_id uuid not null references shop_order,
  payment_url text not null,
  -- What the customer has to send: a little more than the price, so that two customers of one price differ.
  amount text not null,
  -- As last heard. Whether the order is paid is not read from here.
  status text not null,
  created_at timestamptz not null
);

create index if not exists payment_of_order on payment (order_id);

-- What was paid for and is to be sent. The primary key sends each order once, whatever else goes wrong.
create table if not exists shipment (
  order_id uuid primary key references shop_order,
  created_at timestamptz not null default now()
);

-- Events that had their effect, for any may come again.
create table if not exists webhook_event (
  event_id text primary key,
  received_at timestamptz not null default now()
);

-- How many forms came from one address since a moment.
create table if not exists visitor_forms (
  address text primary key,
  began_at timestamptz not null,
  forms integer not null
);

-- What somebody has to look at.
create table if not exists note (
  order_id uuid not null references shop_order,
  text text not null,
  created_at timestamptz not null default now(),
  primary key (order_id, text)
);
