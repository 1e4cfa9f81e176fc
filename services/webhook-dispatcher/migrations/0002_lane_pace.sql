-- How soon a lane's attempts end, so that receivers which let them hang share a part of the places in flight and leave the others'.
-- new    no attempt has ended yet
-- quick  the last ones ended within a second
-- slow   one took longer, or is taking longer
alter table lane add column pace text not null default 'new' check (pace in ('new', 'quick', 'slow'));

-- A claim looks at each pace apart: lanes that wait for a slow place are not passed on the way to those that do not.
create index lane_due_by_pace on lane (pace, next_due_at) where next_due_at is not null and not held;
