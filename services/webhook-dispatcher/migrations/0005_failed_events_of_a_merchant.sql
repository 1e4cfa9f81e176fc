-- Operators ask for what failed of one merchant. Without this, ten million deliveries were read to find its hundred.
create index delivery_failed_of_merchant on delivery (merchant_id, event_id) where status = 'failed';
