-- Events whose payment's way is traced: their attempts, some of them hours later and in other processes, belong to it. Only what is
-- exported has a row, so this table is small, and empty where nothing is traced.
create table event_trace (
  event_id    text primary key,
  -- W3C traceparent of the span in which the event was written.
  traceparent text not null,
  written_at  timestamptz not null default now()
);
