-- How soon a lane's attempts end, so that receivers which let them hang share a part of the places in flight and leave the others'.
-- new    no attempt has ended yet
-- quick  the last ones ended soon
-- slow   one took longer, or is taking longer
-- Lanes from before are quick until an attempt shows better: as new ones their next events would wait for one another.
alter table lane add column pace text not null default 'quick' check (pace in ('new', 'quick', 'slow'));
alter table lane alter column pace set default 'new';
