-- Details show the newest of a payment's transfers: in this order the index gives them without a sort.

create index transfer_related_newest on transfer (related_payment_id, block_timestamp) where related_payment_id is not null;

drop index transfer_related;
