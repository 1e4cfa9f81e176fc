-- The one rule of who may create: creation enforces it, `limits` reports it. Returns the first reason in the contract's order, or null
-- when one more payment is allowed. `at` is the database's time, read while the counters could not change.
create or replace function creation_block_reason(g gate, at timestamptz) returns text language sql immutable as $$
  select case
    when not g.account_active then 'account_inactive'
    when g.creation_paused then 'creation_paused'
    when g.access_type = 'beta' and g.beta_expires_at is null then 'beta_not_activated'
    when g.access_type = 'beta' and at >= g.beta_expires_at then 'beta_expired'
    when g.used_lifetime - g.package_base >= g.total_limit then 'total_quota_exhausted'
    when case when g.used_day = (at at time zone 'UTC')::date then g.used_today else 0 end >= g.daily_limit
      then 'daily_quota_exhausted'
  end
$$;
