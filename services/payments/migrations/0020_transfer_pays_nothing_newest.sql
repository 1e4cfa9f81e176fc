-- Operators' list of all transfers that pay nothing, newest first, and how many there are of each reason in a span of time.
create index concurrently transfer_pays_nothing_newest
  on transfer (block_timestamp, transaction_id, transaction_event_index, network) include (reason)
  where match_status in ('pending', 'unmatched');
