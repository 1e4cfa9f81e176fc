-- Whether the network was read without a gap when a transfer was read first, at first_seen_at. Every row of a transfer, in whatever block,
-- says the same from now on. Of the rows of today it is not known.
alter table transfer add column live boolean not null default false;
-- When a look at the chain last read everything up to the head; null until then. Written every ten seconds at most.
alter table cursor add column read_at timestamptz;
