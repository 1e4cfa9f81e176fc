-- What the newest `ops check --report` came to: one row.
create table check_report (
  only_row boolean primary key default true check (only_row),
  -- Counts as the last whole check until there is one, so that no installation is late on its first day.
  made_at timestamptz not null default now(),
  -- Of the last whole check.
  began_at timestamptz,
  ended_at timestamptz,
  -- A list of {"rule", "count"}.
  violations jsonb not null default '[]',
  -- When a check last ended before it had looked at everything.
  incomplete_at timestamptz
);

insert into check_report default values;
