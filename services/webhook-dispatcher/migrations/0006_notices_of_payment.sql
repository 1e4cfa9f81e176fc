create index concurrently event_notice_payment on event (notice_payment_id, event_id) where notice_payment_id is not null;
