-- Operators page through what failed, oldest first. Ids of events made later sort later, so the id alone is the place in the list;
-- created_at is not, because many events may share one moment.
create index delivery_failed_in_order on delivery (event_id) where status = 'failed';
drop index delivery_failed;
