-- W3C traceparent of the span in which the message was said: what is done about it elsewhere belongs to the same trace. Null where
-- nothing is traced. A process from before this migration does not write it, and sends the message without.
alter table outbox add traceparent text;
