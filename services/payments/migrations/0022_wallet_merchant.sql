-- Which wallets a merchant has, newest first, for operators.
create index concurrently wallet_merchant on wallet (merchant_id, bound_at, address);
