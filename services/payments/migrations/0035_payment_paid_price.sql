-- A merchant's paid payments with a price in another currency: reports sum them up by currency.
create index concurrently payment_paid_price on payment (merchant_id, paid_at) where price is not null and paid_at is not null;
