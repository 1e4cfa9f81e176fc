create unique index concurrently event_occurrence on event (occurrence) where occurrence is not null;
