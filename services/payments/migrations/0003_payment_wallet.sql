-- For a transfer that pays nothing: the payments on its wallet, of any amount and any merchant, newest first.
create index concurrently payment_wallet on payment (network, recipient, created_at);
