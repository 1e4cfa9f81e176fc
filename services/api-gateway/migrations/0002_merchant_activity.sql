-- Every authenticated request writes when it came. In a table of its own that write waits for nothing but other requests:
-- an operator who holds a merchant's row cannot hold up the requests that are admitted together with that merchant's.

create table merchant_activity (
  merchant_id text primary key references merchant,
  last_request_at timestamptz not null
) with (fillfactor = 50);

insert into merchant_activity (merchant_id, last_request_at)
select merchant_id, last_request_at from merchant where last_request_at is not null;

-- merchant.last_request_at stays for a while: replicas of the release before still write it during an upgrade.
