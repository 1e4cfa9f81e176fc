-- Applied at every start. A longer-lived shop would change its tables by migrations.

create table if not exists shop_order (
  -- In the customer's address bar. Knowing it is enough to see the order, so it must not be guessable.
  order_id uuid primary key default gen_random_uuid(),
  -- Shown to people.
  number bigint not null unique generated always as identity (start with 1001),
  article text not null,
  price numeric(12, 2) not null check (price > 0),
  created_at timestamptz not null default now(),
  -- When a payment was last requested.
  attempted_at timestamptz not null default now(),
  -- When Quittance was last asked about it.
  checked_at timestamptz not null default now(),
  -- The payment that paid it.
  paid_by text,
  paid_at timestamptz
);

-- Of the price: USDT, or another one that Quittance converts when the payment is created.
alter table shop_order add column if not exists currency text not null default 'USDT';

-- The browser that ordered it, so that ordering the same again leads back to it.
alter table shop_order add column if not exists visitor uuid;
create index if not exists order_of_visitor on shop_order (visitor, created_at);

create index if not exists open_order on shop_order (checked_at) where paid_at is null;

-- An order can have another payment after one that expired or was cancelled.
create table if not exists payment (
  payment_id text primary key,
  order_id uuid not null references shop_order,
  payment_url text not null,
  -- What the customer has to send.
  amount text not null,
  -- The last known status. It does not decide whether the order is paid.
  status text not null,
  created_at timestamptz not null
);

create index if not exists payment_of_order on payment (order_id);

-- Paid orders to ship. The primary key ensures that each order is shipped once, whatever else goes wrong.
create table if not exists shipment (
  order_id uuid primary key references shop_order,
  created_at timestamptz not null default now()
);

-- Events that had their effect, because any event may arrive again.
create table if not exists webhook_event (
  event_id text primary key,
  received_at timestamptz not null default now()
);

-- The number of forms from one address since `began_at`.
create table if not exists visitor_forms (
  address text primary key,
  began_at timestamptz not null,
  forms integer not null
);

-- Notes for a person to check.
create table if not exists note (
  order_id uuid not null references shop_order,
  text text not null,
  created_at timestamptz not null default now(),
  primary key (order_id, text)
);
