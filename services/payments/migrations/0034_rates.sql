-- The last value of each source of exchange rates, and the one before it. At most a hundred rows.
create table rate_quote (
  source   text collate "C" not null,
  -- Of an exchange: how much of it one USDT costs. Of the European Central Bank: how much of it one euro costs.
  currency text collate "C" not null,
  -- Decimal text.
  value    text not null,
  as_of    timestamptz(3) not null,
  previous text,
  primary key (source, currency)
);

-- The last price of one USDT on which the exchanges agreed, in euros and in dollars: what a jump is measured from.
create table rate_accepted (
  currency    text collate "C" primary key,
  value       text not null,
  accepted_at timestamptz(3) not null
);

-- What the merchant asked for in another currency, and the rate that converted it. Null for an amount in USDT.
alter table payment add column price jsonb, add column rate jsonb;

-- The prices of payments that were paid and are in the archive, for the sums of reports.
create table archived_price (
  merchant_id text collate "C" not null,
  network     text collate "C" not null,
  day         date not null,
  currency    text collate "C" not null,
  paid_price  numeric not null,
  primary key (merchant_id, network, day, currency)
);
