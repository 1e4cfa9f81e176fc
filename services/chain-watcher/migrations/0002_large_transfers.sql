-- How far the scan is final for transfers above the network's cap, which also wait until the chain itself calls their block final.
-- The same as final_number and final_timestamp where a network has no cap.
alter table cursor
  add column large_final_number bigint,
  add column large_final_timestamp timestamptz;

update cursor set large_final_number = final_number, large_final_timestamp = final_timestamp;
