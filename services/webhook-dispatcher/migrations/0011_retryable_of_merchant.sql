-- The same of one merchant, in place of delivery_failed_of_merchant.
create index concurrently delivery_retryable_of_merchant on delivery (merchant_id, event_id)
  where status = 'failed' and error_category <> 'superseded';
