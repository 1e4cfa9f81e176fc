-- Payments that wait for money. One that was closed keeps its row for a while: its two messages may come in any order.
create table unfinished_payment (
  payment_id text primary key,
  network text not null,
  -- Null as long as only its end is known.
  created_at timestamptz,
  -- When this service heard of it.
  closed_at timestamptz,
  check (created_at is not null or closed_at is not null)
);
create index unfinished_payment_created_at on unfinished_payment (network, created_at) where closed_at is null;
create index unfinished_payment_closed_at on unfinished_payment (closed_at) where closed_at is not null;
