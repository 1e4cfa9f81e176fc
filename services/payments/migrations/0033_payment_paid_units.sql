-- A merchant's payments that were paid by what had arrived at an address of their own: reports add what differs from the amount.
create index concurrently payment_paid_units on payment (merchant_id, paid_at) where paid_units is not null;
