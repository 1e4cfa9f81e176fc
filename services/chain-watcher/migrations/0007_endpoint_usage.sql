-- What was asked of the endpoints whose plans have a daily limit, by day of the plan. Every replica adds what it asked every few
-- seconds, so that a restart or another leader knows what is left.
create table endpoint_usage (
  network text not null,
  -- Derived from the URL, which may hold a key and is stored nowhere; the order of endpoints may change at any time.
  endpoint bytea not null,
  day date not null,
  requests bigint not null check (requests >= 0),
  -- In the provider's units.
  units bigint not null check (units >= 0),
  primary key (network, endpoint, day)
);
