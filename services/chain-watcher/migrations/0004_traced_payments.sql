-- Payments whose way is traced. A transfer may come long after its payment was told of, in a process that never heard of it; what is
-- seen of it belongs to the payment's trace. Only what is exported has a row, so this table is small, and empty where nothing is traced.
create table traced_payment (
  network text not null,
  address bytea not null check (octet_length(address) = 20),
  -- Millionths of a USDT. With network and wallet it is the slot, which at most one unfinished payment has; the last one counts.
  amount_units bigint not null,
  -- W3C traceparent of the span in which the payment was heard of.
  traceparent text not null,
  heard_at timestamptz not null default now(),
  forget_at timestamptz not null,
  primary key (network, address, amount_units)
);
create index traced_payment_forget_at on traced_payment (forget_at);
