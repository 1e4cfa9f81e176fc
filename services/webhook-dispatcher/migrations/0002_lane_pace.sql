-- How soon a lane's attempts end, so that receivers which let them hang share a part of the places in flight and leave the others'.
-- new    no attempt has ended yet
-- quick  the last ones ended within a second
-- slow   one took longer, or is taking longer
alter table lane add column pace text not null default 'new' check (pace in ('new', 'quick', 'slow'));
