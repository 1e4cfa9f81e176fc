-- The payments that have had an address for themselves, newest first: the last of them may still hold it.
create index concurrently payment_dedicated on payment (network, recipient, created_at) where rest_seconds is not null;
