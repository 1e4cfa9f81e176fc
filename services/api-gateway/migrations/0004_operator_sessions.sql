-- Operators who are signed in to the console. A restart of it, or another replica, changes nothing for them.
create table operator_session (
  session_hash bytea primary key check (octet_length(session_hash) = 32),
  operator text not null references operator,
  created_at timestamptz not null default clock_timestamp(),
  last_seen_at timestamptz not null default clock_timestamp(),
  ends_at timestamptz not null
);

create index operator_session_operator on operator_session (operator);
