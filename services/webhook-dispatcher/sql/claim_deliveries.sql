-- Leases due deliveries to this process, a few of each due lane. Lanes that another claim has locked are skipped: only the holder of a
-- lane's lock leases its deliveries. Locks are taken in one order: lanes, then deliveries.
--
-- As a function the statements cost one round trip and are planned once; each statement still sees everything committed before it. A plan
-- that was made while the tables were empty is still used when they are full, so no plan may scan a whole table.
--
-- A notice lane is put off while its merchant has due PAID events, and may have half as many attempts as a PAID lane. A notice that must not
-- follow the PAID event of its payment is withdrawn instead of leased: its lease expired, or a process of 0.2.0 stored that event.
--
-- paces        the lanes to claim, in the order in which they share max_deliveries: [{"pace": "quick", "lanes": 64, "limit": 8, "most": 8}].
--              At most `lanes` lanes of the pace, `limit` attempts of a lane in flight, and `most` attempts of a lane in this claim. A
--              missing pace is not claimed, even if many of its lanes are due.
-- in_flight    attempts in flight in this process, by lane: {"mer_1": 3}. This and host_limits are objects because an array would be
--              searched from its start for every lane.
-- host_limits  hosts that may get fewer than host_limit attempts: {"hooks.io": {"room": 3, "pause_seconds": 0}}. A host with a pause
--              gets none, and its lanes are put off for that time.
-- The first row shows whether another claim may find more, and the time. Each further row is a claimed delivery.

create or replace function claim_deliveries(
  max_deliveries integer,
  paces          jsonb,
  host_limit     integer,
  in_flight      jsonb,
  host_limits    jsonb,
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
  traceparent        text,
  created_at         timestamptz,
  url                text,
  host               text,
  key_id             text,
  secret_encrypted   bytea,
  encryption_key_id  text,
  pace               text
) language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  lane_ids         text[];
  lane_rooms       integer[];
  lane_pauses      double precision[];
  leased_events    text[];
  leased_merchants text[];
  leased_cycles    integer[];
  leased_attempts  integer[];
  leased_lapses    boolean[];
  overtaken_lanes  text[];
  last_lane        bigint;
  more_lanes       boolean;
begin
  -- A claim that is lost in a server crash is repeated, so the commit does not wait for the disk.
  perform set_config('synchronous_commit', 'off', true);

  -- Lanes to one host share its room evenly.
  select array_agg(due.merchant_id), array_agg(least(due.room, greatest(1, due.host_room / due.sharing))), array_agg(due.pause),
         bool_or(due.has_more)
    into lane_ids, lane_rooms, lane_pauses, more_lanes
    from (
      select locked.*, count(*) over (partition by locked.host)::int as sharing,
             row_number() over (partition by locked.host order by p.place, locked.is_for_notices, locked.next_due_at) as nth_of_host,
             count(*) over (partition by p.place) = p.lanes as has_more
        from rows from (jsonb_to_recordset(paces) as (pace text, lanes integer, "limit" integer, most integer)) with ordinality
               as p(pace, lanes, lane_limit, most, place)
       cross join lateral (
          select l.merchant_id, l.next_due_at, e.host, least(free.room, p.most) as room, limits.host_room, limits.pause,
                 l.notices_of is not null as is_for_notices
            from lane l
            join endpoint e on e.merchant_id = coalesce(l.notices_of, l.merchant_id)
           cross join lateral (
             select case l.circuit_state when 'closed' then lane.most
                                         when 'recovering' then least(lane.most, l.recovery_limit) else 1 end
                      - coalesce((in_flight -> l.merchant_id)::integer, 0) as room
               from (select case when l.notices_of is null then p.lane_limit else (p.lane_limit + 1) / 2 end as most) lane
           ) free
           cross join lateral (select host_limits -> e.host as host) state
           cross join lateral (
             select coalesce((state.host -> 'room')::integer, host_limit) as host_room,
                    greatest((state.host -> 'pause_seconds')::double precision,
                             case when l.notices_of is not null and exists (
                               select from delivery d
                                where d.merchant_id = l.notices_of and d.status = 'pending' and d.next_attempt_at <= now()
                             ) then 1 else 0 end) as pause
           ) limits
           where l.pace = p.pace and l.next_due_at <= now() and not l.held and free.room > 0
             -- Another process may reach the host, so it gets time to claim the lane before this one puts it off.
             and case when limits.pause > 0 then l.next_due_at <= now() - interval '1.5 seconds' else limits.host_room > 0 end
           order by l.next_due_at
           limit p.lanes
             for update of l skip locked
        ) locked
       order by p.place, locked.is_for_notices, locked.next_due_at
    ) due
   where due.pause > 0 or due.nth_of_host <= due.host_room;
  if lane_ids is null then
    more := false;
    database_now := clock_timestamp();
    return next;
    return;
  end if;

  -- A separate statement, so that its snapshot is newer than the locks on the lanes: it sees every event inserted before, and a later insert
  -- waits for the locks before it updates the lane. In the statement that takes the locks an event could be missed.
  with due as materialized (
    select d.event_id, l.merchant_id, l.position, d.lapsed, d.overtaken
      from unnest(lane_ids, lane_rooms, lane_pauses) with ordinality as l(merchant_id, room, pause, position)
     cross join lateral (
       select p.event_id, p.lease_id is not null as lapsed,
              -- Not exists(), which might be planned as a scan of all events.
              case when l.merchant_id like '%:notices' then
                (select true from event n join event paid on paid.payment_id = n.notice_payment_id
                  where n.event_id = p.event_id and precedes_paid(n.event_type))
              end is not null as overtaken
         from delivery p
        where p.merchant_id = l.merchant_id and p.status = 'pending' and p.next_attempt_at <= now()
        order by p.next_attempt_at
        limit l.room
     ) d
     where l.pause = 0
     limit max_deliveries
  ), taken_back as (
    update delivery d
       set status = 'failed', next_attempt_at = null, lease_id = null, error_category = 'superseded',
           interruptions = d.interruptions + due.lapsed::int
      from due
     where due.overtaken and d.event_id = due.event_id and d.status = 'pending' and d.next_attempt_at <= now()
  ), leased as (
    update delivery d
       set lease_id = lease, next_attempt_at = now() + make_interval(secs => lease_seconds),
           interruptions = d.interruptions + due.lapsed::int,
           error_category = case when due.lapsed then 'interrupted' else d.error_category end
      from due
     -- Checked again: a delivery whose lease expired may be settled or given up at the same time.
     where not due.overtaken and d.event_id = due.event_id and d.status = 'pending' and d.next_attempt_at <= now()
    returning d.event_id, d.merchant_id, d.cycle, d.attempts, due.lapsed, due.position
  )
  select array_agg(leased.event_id), array_agg(leased.merchant_id), array_agg(leased.cycle), array_agg(leased.attempts),
         array_agg(leased.lapsed), max(leased.position), (select array_agg(due.merchant_id) from due where due.overtaken)
    into leased_events, leased_merchants, leased_cycles, leased_attempts, leased_lapses, last_lane, overtaken_lanes
    from leased;

  -- A lane that gave as many deliveries as it had room for may have more: it goes behind the other due lanes, and at worst the next claim
  -- finds it empty. A probed lane waits for its probe. Lanes that were not reached keep their place.
  with taken as (
    select t.merchant_id, count(*) as deliveries from unnest(leased_merchants) as t(merchant_id) group by t.merchant_id
  ), reached as (
    select l.merchant_id, m.pause, taken.deliveries >= m.room or m.merchant_id = any(overtaken_lanes) as may_have_more,
           l.circuit_state in ('open', 'half_open') and taken.deliveries is not null as is_probed
      from unnest(lane_ids, lane_rooms, lane_pauses) with ordinality as m(merchant_id, room, pause, position)
      join lane l on l.merchant_id = m.merchant_id
      left join taken on taken.merchant_id = m.merchant_id
     where cardinality(leased_events) is distinct from max_deliveries or m.position <= last_lane
  ), moved as (
    update lane l
       set next_due_at = case when r.pause > 0 or r.may_have_more then r.not_before
                              when head.at is not null then greatest(head.at, r.not_before) end,
           circuit_state = case when r.is_probed then 'half_open' else l.circuit_state end,
           open_until = case when r.is_probed then r.not_before else l.open_until end
      from (
        select *, now() + make_interval(secs => case when is_probed then lease_seconds else pause end) as not_before from reached
      ) r
      left join lateral (
        select min(p.next_attempt_at) as at from delivery p
         where p.merchant_id = r.merchant_id and p.status = 'pending' and r.pause = 0 and r.may_have_more is not true
      ) head on true
     where l.merchant_id = r.merchant_id
    returning r.may_have_more
  )
  select more_lanes or coalesce(bool_or(moved.may_have_more), false)
           or cardinality(leased_events) is not distinct from max_deliveries
    into more from moved;

  database_now := clock_timestamp();
  return next;
  return query
    with targets as materialized (
      select lane.merchant_id, endpoint.url, endpoint.host, k.key_id, k.secret_encrypted, k.encryption_key_id, lane.pace
        from (select distinct t.merchant_id from unnest(leased_merchants) as t(merchant_id)) m
        join lane on lane.merchant_id = m.merchant_id
        join endpoint on endpoint.merchant_id = coalesce(lane.notices_of, lane.merchant_id)
        join signing_key k on k.key_id = endpoint.active_key_id
    )
    select null::boolean, null::timestamptz, c.event_id, c.merchant_id, c.cycle, c.attempts, c.lapsed,
           event.body, event.traceparent, event.created_at, targets.url, targets.host, targets.key_id, targets.secret_encrypted, targets.encryption_key_id,
           targets.pace
      from unnest(leased_events, leased_merchants, leased_cycles, leased_attempts, leased_lapses)
             as c(event_id, merchant_id, cycle, attempts, lapsed)
      join event on event.event_id = c.event_id
      join targets on targets.merchant_id = c.merchant_id;
end
$$;
