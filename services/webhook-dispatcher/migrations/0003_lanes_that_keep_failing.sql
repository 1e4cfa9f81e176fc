-- A receiver that answers nothing but failures is spared: its lane is closed for a while, and then tried with one event at a time.
-- What waits meanwhile is charged no attempts.
alter table lane
  -- Failures since the last success, and when the first of them was written down.
  add failures       integer not null default 0,
  add failing_since  timestamptz,
  -- Of the last failure. It stays when the receiver recovers.
  add error_category text,
  -- How often the lane was closed since it last worked at its ordinary bound.
  add closed_times   integer not null default 0,
  -- While it is set, the lane rests until then, and is tried with one event after it. During that attempt it is the attempt's lease.
  add closed_until   timestamptz,
  -- Attempts that may be in flight in each process: 1 while one event is tried, more as the receiver recovers, null ordinarily.
  add recovering_cap integer,
  add constraint lane_failing check ((failures = 0) = (failing_since is null));

create index lane_failing_since on lane (failing_since) where failing_since is not null;

-- The events of a lane that never recovers have to end too, and when is counted from here.
alter table delivery add cycle_started_at timestamptz not null default now();
update delivery set cycle_started_at = coalesce(last_attempt_at, created_at);
