-- A merchant's payments in the order of their creation, with what a report counts of each, so that it reads no row. It has what
-- payment_merchant has, and takes its place.
create index concurrently payment_merchant_times on payment (merchant_id, created_at, payment_id)
  include (status, network, amount_units, expires_at, paid_at, cancelled_at);
