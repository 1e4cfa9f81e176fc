-- A list of one status reads this in order, from wherever its page begins. Without it, a rare status (the few CANCELLED ones among
-- a merchant's hundred thousand PAID) was looked for in the whole table, or among every merchant's unfinished payments.
-- It costs no status change its place on the page: the slot's index depends on the status already.

create index payment_merchant_status on payment (merchant_id, status, created_at, payment_id);
