-- Payments of one order of a merchant, and for operators of any merchant.
create index concurrently payment_order on payment (order_id, merchant_id, created_at, payment_id) where order_id is not null;
