-- Stores the outcomes of attempts, all or none, and updates their lanes' circuits. A failed notice that must not follow the PAID event of its
-- payment is not retried, and that event no longer waits for it.
--
-- outcomes  array of objects, one per attempt: see Outcome in src/lanes/claim.sql.ts; merchant_id is the lane's id. error_category is null
--           for a success, retry_delay_seconds is null if no retry is left. At most one of several attempts of one event decides its status.
-- before_delivered, before_failed  statuses that may become delivered or failed.
-- The other parameters are the circuit's policy: see CircuitPolicy in src/lanes/claim.sql.ts.
create or replace function settle_attempts(
  outcomes             jsonb,
  before_delivered     text[],
  before_failed        text[],
  open_after           integer,
  open_after_seconds   double precision,
  longest_open_seconds double precision,
  recovered_at         integer
) returns void language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  noticed text[];
  paid    text[];
begin
  select array_agg(n.notice_payment_id) into noticed
    from jsonb_to_recordset(outcomes) as o(event_id text, merchant_id text)
    join event n on n.event_id = o.event_id
   where o.merchant_id like '%:notices' and precedes_paid(n.event_type);
  if noticed is not null then
    paid := lock_paid(noticed);
    if cardinality(paid) > 0 then
      -- Both lanes of each merchant, here, because all lanes are locked in one order.
      perform from lane
        where merchant_id = any(array(select unnest(array[o.merchant_id, split_part(o.merchant_id, ':', 1)])
                                        from jsonb_to_recordset(outcomes) as o(merchant_id text)))
        order by merchant_id for update;
    end if;
  end if;

  -- Most lanes only have successes at their pace. They are neither locked nor written. The others are locked in order.
  with ended as (
    select o.merchant_id, bool_or(o.error_category is null) as has_success,
           count(o.error_category)::int as failures, max(o.error_category) as error_category,
           -- Too early if a failure does not count below; the lane is then claimed once without a result.
           min(now() + make_interval(secs => o.retry_delay_seconds)) filter (where o.error_category is not null) as due_at,
           -- 'slow' sorts after 'quick'.
           max(o.pace) as new_pace
      from jsonb_to_recordset(outcomes)
             as o(merchant_id text, error_category text, retry_delay_seconds double precision, pace text)
     group by o.merchant_id
  ), before as (
    select l.*, ended.has_success, ended.failures as new_failures, ended.error_category as new_error, ended.due_at,
           ended.new_pace
      from lane l
      join ended on ended.merchant_id = l.merchant_id
     where ended.failures > 0 or l.failures > 0 or l.circuit_state <> 'closed' or l.pace <> ended.new_pace
     order by l.merchant_id
       for update of l
  ), judged as (
    select *,
           2 * coalesce(recovery_limit, 1) as next_limit,
           -- Attempts that were in flight when the circuit opened do not extend its pause.
           not has_success and case circuit_state
             when 'closed' then failures + new_failures >= open_after
                                and (failing_since <= now() - make_interval(secs => open_after_seconds)
                                     or failures + new_failures >= 10 * open_after)
             else circuit_state <> 'open' end as opens
      from before
  ), after as (
    select *,
           case when opens then 'open'
                when not has_success or circuit_state = 'closed' then circuit_state
                when next_limit >= recovered_at then 'closed' else 'recovering' end as new_state,
           case when opens then now() + make_interval(secs => least(longest_open_seconds, 2 ^ least(times_opened, 20)))
                when not has_success then open_until end as new_open_until
      from judged
  )
  -- Every value comes from the locked row. l may still be an older version of it, and the table's checks would see a mixture.
  update lane l
     set failures = case when after.has_success then 0 else after.failures + after.new_failures end,
         failing_since = case when after.has_success then null else coalesce(after.failing_since, now()) end,
         error_category = coalesce(after.new_error, after.error_category),
         pace = after.new_pace,
         circuit_state = after.new_state,
         open_until = after.new_open_until,
         recovery_limit = case when after.new_state = 'recovering' then after.next_limit end,
         times_opened = case when after.opens then after.times_opened + 1
                             when after.new_state <> 'closed' then after.times_opened else 0 end,
         -- With an open circuit a lane is not due before its probe. A successful probe makes it due now.
         next_due_at = case when after.opens then after.new_open_until
                            when after.has_success and after.open_until is not null then least(after.next_due_at, now())
                            else least(after.next_due_at, greatest(after.due_at, after.open_until)) end
    from after
   where l.merchant_id = after.merchant_id;

  -- A success counts even after its lease has expired. A failure counts only under its own lease: after that, another process may be sending
  -- the event.
  update delivery d
     set status = case when o.error_category is null then 'delivered' when o.retry_delay_seconds is null then 'failed'
                       else 'pending' end,
         attempts = d.attempts + 1, lease_id = null, error_category = o.error_category,
         next_attempt_at = case when o.error_category is not null then now() + make_interval(secs => o.retry_delay_seconds) end,
         last_attempt_at = o.started_at,
         delivered_at = case when o.error_category is null then now() end
    from jsonb_to_recordset(outcomes) as o(event_id text, lease_id uuid, error_category text,
                                           retry_delay_seconds double precision, started_at timestamptz, decides boolean)
   where o.decides and d.event_id = o.event_id
     and case when o.error_category is null then d.status = any(before_delivered)
              else d.lease_id = o.lease_id and d.status = any(before_failed) end;

  if cardinality(paid) > 0 then
    perform take_back_notices(paid);
  end if;

  -- Rows conflict if this call repeats one whose commit was not confirmed.
  insert into attempt (event_id, lease_id, started_at, cycle, n, key_id, duration_ms, http_status, error_category, remote_ip)
  select event_id, lease_id, started_at, cycle, n, key_id, duration_ms, http_status, error_category, remote_ip
    from jsonb_populate_recordset(null::attempt, outcomes)
  on conflict do nothing;
end
$$;
