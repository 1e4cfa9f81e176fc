-- How many transactions a merchant and its customers have had looked up in the hour that began with the first of them.
create table look_up_window (
  merchant_id text primary key,
  started_at timestamptz not null,
  used integer not null check (used > 0)
);
