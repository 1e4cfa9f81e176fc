-- Links with which somebody signs in to the console once: an operator, or a merchant.
create table sign_in_link (
  link_hash bytea primary key check (octet_length(link_hash) = 32),
  operator text references operator,
  merchant_id text references merchant,
  created_at timestamptz not null default clock_timestamp(),
  ends_at timestamptz not null,
  check (num_nonnulls(operator, merchant_id) = 1)
);

create index sign_in_link_operator on sign_in_link (operator);
create index sign_in_link_merchant on sign_in_link (merchant_id);

-- A session is an operator's or a merchant's. A process of the previous release takes a merchant's for one that is over.
alter table operator_session
  alter column operator drop not null,
  add column merchant_id text references merchant,
  add constraint operator_session_person check (num_nonnulls(operator, merchant_id) = 1);
