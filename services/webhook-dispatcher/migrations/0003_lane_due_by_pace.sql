-- A claim looks at each pace apart: lanes that wait for a slow place are not passed on the way to those that do not.
create index concurrently lane_due_by_pace on lane (pace, next_due_at) where next_due_at is not null and not held;
