-- Lists of one network.
create index concurrently payment_merchant_network on payment (merchant_id, network, status, created_at, payment_id);
