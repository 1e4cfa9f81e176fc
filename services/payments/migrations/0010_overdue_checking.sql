-- The expiry loop also looks at payments whose transfer was seen but never confirmed: if a message got lost, asking settles them.
create index payment_overdue on payment (network, expires_at) where status in ('PENDING', 'CHECKING');

drop index payment_expiry;
