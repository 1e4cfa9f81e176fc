-- The transfers that may be for a payment among others. Few transfers are in it: those with several candidates.
create index concurrently transfer_candidates on transfer using gin (candidates) where candidates is not null;
