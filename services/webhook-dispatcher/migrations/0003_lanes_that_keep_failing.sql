-- A receiver that answers nothing but failures is spared: its lane is closed for a while, and then tried with one event at a time.
-- What waits meanwhile is charged no attempts.
alter table lane
  -- Failures since the last success, and when the first of them was written down.
  add failures       integer not null default 0,
  add failing_since  timestamptz,
  -- How often the lane was closed without a success in between.
  add closed_times   integer not null default 0,
  -- While it is set, the lane rests until then, and is tried with one event after it.
  add closed_until   timestamptz,
  -- Attempts that may be in flight while it recovers, for each process; null when nothing but the ordinary bound holds.
  add recovering_cap integer,
  add constraint lane_failing check ((failures = 0) = (failing_since is null));
