-- Of an endpoint that was configured or changed: the address and port in a private network that its host stood for then, by the setting
-- WEBHOOK_PRIVATE_TARGETS. Null for a public receiver.
alter table audit add column private_target text;
