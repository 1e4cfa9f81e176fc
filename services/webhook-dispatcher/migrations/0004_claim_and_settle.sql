-- Claiming and settling take several statements that must see each other's locks and changes. As functions they are one round trip
-- and are planned once; every statement still sees what was committed before it began. A plan made while the tables are empty is
-- kept when they are not any more, so none may choose to read a table from end to end.

-- What a lane is, told by its columns. next_due_at is in each case the moment at which a claim may look at it; null when nothing pends.
--   open        closed_until null, recovering_cap null    its ordinary bound holds
--   closed      closed_until set,  recovering_cap null    rests until then
--   tried       closed_until set,  recovering_cap 1       one event is being sent; closed_until is that attempt's lease
--   recovering  closed_until null, recovering_cap 2, 4 …  so many may be in flight
-- Each of them may be held, too: then nothing looks at it.

-- Takes due deliveries, a few of each due lane, and leases them. A lane that somebody else works on is passed by; whoever holds a
-- lane's lock is the only one who leases its deliveries. Locks are taken in one order: lanes, then deliveries.
-- at_work: attempts that lanes have in flight in this process, by merchant_id. hosts: receivers that may get fewer than host_bound
-- attempts: {"hooks.io": {"room": 3, "rest": 0}}, rest being the seconds for which none shall be sent. Both are objects because an
-- array would be searched from its beginning for every lane.
-- The first row says whether another claim may find more, and the time; each further one is a delivery that was claimed.
create function claim_deliveries(
  max_deliveries integer,
  lane_bound     integer,
  host_bound     integer,
  max_lanes      integer,
  at_work        jsonb,
  hosts          jsonb,
  lease          uuid,
  lease_seconds  double precision
) returns table (
  more               boolean,
  database_now       timestamptz,
  event_id           text,
  merchant_id        text,
  cycle              integer,
  attempts           integer,
  lapsed             boolean,
  body               bytea,
  url                text,
  host               text,
  key_id             text,
  secret_encrypted   bytea,
  encryption_key_id  text
) language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  lane_ids         text[];
  lane_rooms       integer[];
  lane_rests       double precision[];
  leased_events    text[];
  leased_merchants text[];
  leased_cycles    integer[];
  leased_attempts  integer[];
  leased_lapses    boolean[];
  last_lane        bigint;
  locked_lanes     bigint;
begin
  -- A claim that is lost with the server is made again by somebody, so nobody waits for the disk. What it leads to is durable.
  perform set_config('synchronous_commit', 'off', true);

  -- Lanes that lead to one host share its room evenly.
  select array_agg(due.merchant_id), array_agg(least(due.room, greatest(1, due.host_room / due.sharing))), array_agg(due.rest),
         max(due.locked_lanes)
    into lane_ids, lane_rooms, lane_rests, locked_lanes
    from (
      select locked.*, count(*) over () as locked_lanes, count(*) over (partition by locked.host)::int as sharing,
             row_number() over (partition by locked.host order by locked.next_due_at) as nth_of_host
        from (
          select l.merchant_id, l.next_due_at, e.host, free.room, limits.host_room, limits.rest
            from lane l
            join endpoint e on e.merchant_id = l.merchant_id
           cross join lateral (
             select least(lane_bound, case when l.closed_until is not null then 1 else l.recovering_cap end)
                      - coalesce((at_work -> l.merchant_id)::integer, 0) as room
           ) free
           cross join lateral (select hosts -> e.host as host) state
           cross join lateral (
             select coalesce((state.host -> 'room')::integer, host_bound) as host_room,
                    coalesce((state.host -> 'rest')::double precision, 0) as rest
           ) limits
           where l.next_due_at <= now() and not l.held and free.room > 0
             -- Another process may reach the host that rests in this one, and takes what is due before it is put off.
             and case when limits.rest > 0 then l.next_due_at <= now() - interval '1.5 seconds' else limits.host_room > 0 end
           order by l.next_due_at
           limit max_lanes
             for update of l skip locked
        ) locked
       order by locked.next_due_at
    ) due
   where due.rest > 0 or due.nth_of_host <= due.host_room;
  if lane_ids is null then
    more := false;
    database_now := clock_timestamp();
    return next;
    return;
  end if;

  -- Its snapshot is younger than the locks on the lanes: an event that came in between is in it, and one that comes later waits
  -- for the locks before it moves its lane. In one statement with the locking, it could be forgotten.
  with due as materialized (
    select d.event_id, l.position, d.lapsed
      from unnest(lane_ids, lane_rooms, lane_rests) with ordinality as l(merchant_id, room, rest, position)
     cross join lateral (
       select p.event_id, p.lease_id is not null as lapsed from delivery p
        where p.merchant_id = l.merchant_id and p.status = 'pending' and p.next_attempt_at <= now()
        order by p.next_attempt_at
        limit l.room
     ) d
     where l.rest = 0
     limit max_deliveries
  ), leased as (
    update delivery d
       set lease_id = lease, next_attempt_at = now() + make_interval(secs => lease_seconds),
           interruptions = d.interruptions + due.lapsed::int,
           error_category = case when due.lapsed then 'interrupted' else d.error_category end
      from due
     -- A lapsed lease may be settled, or given up, at this very moment.
     where d.event_id = due.event_id and d.status = 'pending' and d.next_attempt_at <= now()
    returning d.event_id, d.merchant_id, d.cycle, d.attempts, due.lapsed, due.position
  )
  select array_agg(leased.event_id), array_agg(leased.merchant_id), array_agg(leased.cycle), array_agg(leased.attempts),
         array_agg(leased.lapsed), max(leased.position)
    into leased_events, leased_merchants, leased_cycles, leased_attempts, leased_lapses, last_lane
    from leased;

  -- A lane that gave all it was asked for may have more, and goes behind the others that wait; one look too many finds out that it
  -- had not. One that is being tried rests until that has ended. Lanes that were not reached stay as they are.
  with taken as (
    select t.merchant_id, count(*) as deliveries from unnest(leased_merchants) as t(merchant_id) group by t.merchant_id
  ), reached as (
    select l.merchant_id, m.rest, taken.deliveries >= m.room as may_have_more,
           l.closed_until is not null and taken.deliveries is not null as is_tried
      from unnest(lane_ids, lane_rooms, lane_rests) with ordinality as m(merchant_id, room, rest, position)
      join lane l on l.merchant_id = m.merchant_id
      left join taken on taken.merchant_id = m.merchant_id
     where cardinality(leased_events) is distinct from max_deliveries or m.position <= last_lane
  ), moved as (
    update lane l
       set next_due_at = case when r.rest > 0 or r.may_have_more then r.not_before
                              when head.at is not null then greatest(head.at, r.not_before) end,
           closed_until = case when r.is_tried then r.not_before else l.closed_until end,
           recovering_cap = case when r.is_tried then 1 else l.recovering_cap end
      from (
        select *, now() + make_interval(secs => case when is_tried then lease_seconds else rest end) as not_before from reached
      ) r
      left join lateral (
        select min(p.next_attempt_at) as at from delivery p
         where p.merchant_id = r.merchant_id and p.status = 'pending' and r.rest = 0 and r.may_have_more is not true
      ) head on true
     where l.merchant_id = r.merchant_id
    returning r.may_have_more
  )
  select locked_lanes = max_lanes or coalesce(bool_or(moved.may_have_more), false)
           or cardinality(leased_events) is not distinct from max_deliveries
    into more from moved;

  database_now := clock_timestamp();
  return next;
  return query
    with places as materialized (
      select endpoint.merchant_id, endpoint.url, endpoint.host, k.key_id, k.secret_encrypted, k.encryption_key_id
        from (select distinct t.merchant_id from unnest(leased_merchants) as t(merchant_id)) m
        join endpoint on endpoint.merchant_id = m.merchant_id
        join signing_key k on k.key_id = endpoint.active_key_id
    )
    select null::boolean, null::timestamptz, c.event_id, c.merchant_id, c.cycle, c.attempts, c.lapsed,
           event.body, places.url, places.host, places.key_id, places.secret_encrypted, places.encryption_key_id
      from unnest(leased_events, leased_merchants, leased_cycles, leased_attempts, leased_lapses)
             as c(event_id, merchant_id, cycle, attempts, lapsed)
      join event on event.event_id = c.event_id
      join places on places.merchant_id = c.merchant_id;
end
$$;

-- Writes down how attempts ended, all of them or none; element n of every array is about the same attempt.
-- error_category is null for a success, delay null when no retry is left. Of several attempts of one event at most one decides.
create function settle_attempts(
  events                text[],
  leases                uuid[],
  merchants             text[],
  cycles                integer[],
  numbers               integer[],
  keys                  text[],
  starts                timestamptz[],
  durations_ms          integer[],
  statuses              smallint[],
  error_categories      text[],
  remote_ips            inet[],
  delays                double precision[],
  deciding              boolean[],
  before_delivered      text[],
  before_failed         text[],
  recovered_at          integer,
  close_after           integer,
  close_after_seconds   double precision,
  longest_close_seconds double precision
) returns void language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
begin
  -- Most lanes only succeed, and their rows are neither locked nor written. The others are locked in order.
  with ended as (
    select o.merchant_id, bool_or(o.error_category is null) as has_success,
           count(o.error_category)::int as failures, max(o.error_category) as error_category,
           -- Where the failure did not count after all, the lane is looked at once too often.
           min(now() + make_interval(secs => o.delay)) filter (where o.error_category is not null) as due_at
      from unnest(merchants, error_categories, delays) as o(merchant_id, error_category, delay)
     group by o.merchant_id
  ), before as (
    select l.*, ended.has_success, ended.failures as new_failures, ended.error_category as new_error, ended.due_at
      from lane l
      join ended on ended.merchant_id = l.merchant_id
     where ended.failures > 0 or l.failures > 0 or l.closed_until is not null or l.recovering_cap is not null
     order by l.merchant_id
       for update of l
  ), judged as (
    select *,
           not has_success and (
             recovering_cap is not null
             or closed_until is null and failures + new_failures >= close_after
                and (failing_since <= now() - make_interval(secs => close_after_seconds)
                     or failures + new_failures >= 10 * close_after)
           ) as closes
      from before
  ), after as (
    select merchant_id, has_success, new_failures, new_error, due_at, closes,
           case when has_success then null
                when closes then now() + make_interval(secs => least(longest_close_seconds, 2 ^ least(closed_times, 20)))
                else closed_until end as closed_until,
           case when closes then null
                when has_success and (closed_until is not null or recovering_cap is not null)
                  then nullif(least(coalesce(recovering_cap, 1) * 2, recovered_at), recovered_at)
                else recovering_cap end as recovering_cap
      from judged
  )
  update lane l
     set failures = case when after.has_success then 0 else l.failures + after.new_failures end,
         failing_since = case when after.has_success then null else coalesce(l.failing_since, now()) end,
         error_category = coalesce(after.new_error, l.error_category),
         closed_times = case when after.closes then l.closed_times + 1
                             when after.closed_until is null and after.recovering_cap is null then 0
                             else l.closed_times end,
         closed_until = after.closed_until,
         recovering_cap = after.recovering_cap,
         -- When the lane is closed nothing moves it before the time is up, when it opens again it is looked at now.
         next_due_at = case when after.closes then after.closed_until
                            when after.has_success and l.closed_until is not null then least(l.next_due_at, now())
                            else least(l.next_due_at, greatest(after.due_at, after.closed_until)) end
    from after
   where l.merchant_id = after.merchant_id;

  -- A success is a fact, whoever holds the lease by now. A failure counts only under its own lease: when that has lapsed, somebody
  -- else is at it.
  update delivery d
     set status = case when o.error_category is null then 'delivered' when o.delay is null then 'failed' else 'pending' end,
         attempts = d.attempts + 1, lease_id = null, error_category = o.error_category,
         next_attempt_at = case when o.error_category is not null then now() + make_interval(secs => o.delay) end,
         last_attempt_at = o.started_at,
         delivered_at = case when o.error_category is null then now() end
    from unnest(events, leases, error_categories, delays, starts, deciding)
      as o(event_id, lease_id, error_category, delay, started_at, decides)
   where o.decides and d.event_id = o.event_id
     and case when o.error_category is null then d.status = any(before_delivered)
              else d.lease_id = o.lease_id and d.status = any(before_failed) end;

  -- Written down before, when the answer to the commit got lost.
  insert into attempt (event_id, lease_id, started_at, cycle, n, key_id, duration_ms, http_status, error_category, remote_ip)
  select * from unnest(events, leases, starts, cycles, numbers, keys, durations_ms, statuses, error_categories, remote_ips)
  on conflict do nothing;
end
$$;
