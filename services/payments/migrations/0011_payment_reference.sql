-- The end of the id is what a reference is made from.
create index concurrently payment_reference on payment (right(payment_id, 10));
