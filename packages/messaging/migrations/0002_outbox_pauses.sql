-- A message that RabbitMQ did not confirm waits alone, with pauses that grow, and in nobody's way: claims look for rows whose time
-- has come. now() is taken once, for the rows that are there already, so that the table is not rewritten; each new row has its own time.
alter table outbox
  add column not_before timestamptz not null default now(),
  -- How often it was published without being confirmed.
  add column refusals integer not null default 0;
alter table outbox alter column not_before set default clock_timestamp();
