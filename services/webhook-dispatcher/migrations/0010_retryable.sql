-- Operators page through the failed events that can be retried, without passing those that were taken back. It takes the place of
-- delivery_failed_in_order, which a later release drops.
create index concurrently delivery_retryable on delivery (event_id) where status = 'failed' and error_category <> 'superseded';
