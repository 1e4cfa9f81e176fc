-- The few payments that were paid after their window: they may have ended later than a newer payment of their slot, so the choice of a
-- unique amount looks at them as well as at the newest one.
create index concurrently payment_paid_late on payment (network, recipient, amount_units, paid_at)
  where status = 'PAID' and paid_at > least(expires_at, cancelled_at);
