-- How many transactions were looked up for one checkout link, and for one client address of customers, in a window that began with the first.
create table customer_look_up (
  -- 'link <SHA-256 of the public token>' or 'client <SHA-256 of the address>'
  subject text primary key,
  used integer not null check (used > 0),
  ends_at timestamptz not null
);

create index customer_look_up_ends_at on customer_look_up (ends_at);
