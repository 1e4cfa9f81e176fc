-- Lists of what came to one wallet. The status is part of it, so that a rare one among the many of a wallet is found at once.
create index concurrently payment_merchant_wallet on payment (merchant_id, recipient, network, status, created_at, payment_id);
