-- For forgetting traces of events that are over: see src/store/event-trace.ts.
create index event_trace_written_at on event_trace (written_at);
