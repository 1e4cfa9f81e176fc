-- For claims, which take the messages of one name in order, from where nothing older waits. outbox_created_at stays for relays of
-- 0.1.0 until none runs any more.
create index concurrently outbox_due on outbox (name, not_before);
