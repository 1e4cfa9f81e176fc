-- For the choice of a unique amount: when the payments of one price on an address closed that had one.
create index concurrently payment_resting
  on payment (network, recipient, (amount_units / 10000), (coalesce(paid_at, cancelled_at, expires_at)))
  where requested_amount is not null and status in ('PAID', 'EXPIRED', 'CANCELLED');
