-- The few that were paid or cancelled long after their creation, which a search by these times would miss among their neighbours.
create index concurrently payment_closed_late on payment (merchant_id, created_at, payment_id)
  where greatest(paid_at, cancelled_at) - created_at > interval '2 days';
