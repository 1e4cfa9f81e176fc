import type { SqlMutants } from './mutant.ts';

const test = (name: string): string => `services/webhook-dispatcher/test/${name}.int.test.ts`;

/** Claims, leases, stored outcomes, circuits, the order of events. */
export const webhooks: SqlMutants[] = [
  {
    file: 'services/webhook-dispatcher/sql/claim_deliveries.sql',
    tests: test('claim'),
    mutants: [
      {
        breaks: 'a blocked account is sent its events',
        before: 'and l.next_due_at <= now() and not l.held and',
        after: 'and l.next_due_at <= now() and',
        tests: test('notice'),
        noticedBy: 'of a blocked account is held from the start, and sent after unblocking',
      },
      {
        breaks: 'claims do not lock their lanes',
        before: `
             for update of l skip locked`,
        after: '',
        noticedBy: 'skips a lane that another process has locked, without waiting for it',
      },
      {
        breaks: 'a lease lasts twice as long',
        before: 'next_attempt_at = now() + make_interval(secs => lease_seconds)',
        after: 'next_attempt_at = now() + make_interval(secs => 2 * lease_seconds)',
        noticedBy: 'leases due deliveries to one claimer only, for 45 seconds',
      },
      {
        breaks: 'each claim is an interruption',
        before: 'interruptions = d.interruptions + due.lapsed::int,',
        after: 'interruptions = d.interruptions + 1,',
        noticedBy: 'counts an expired lease as an interruption, not as an attempt',
      },
      {
        breaks: 'deliveries in flight take no place',
        before: '- coalesce((in_flight -> l.merchant_id)::integer, 0) as room',
        after: '- 0 as room',
        noticedBy: 'leases no more of a lane than its limit in flight',
      },
      {
        breaks: 'a lane gets one delivery more than it has room for',
        before: 'limit l.room',
        after: 'limit l.room + 1',
        noticedBy: 'leases no more of a lane than its limit in flight',
      },
      {
        breaks: 'a lane with a backlog is no longer claimed',
        before: 'case when r.pause > 0 or r.may_have_more then r.not_before',
        after: 'case when r.pause > 0 then r.not_before',
        noticedBy: 'reaches other lanes while one has a long backlog',
      },
      {
        breaks: 'a lane whose events are due later is no longer claimed',
        before: 'when head.at is not null then greatest(head.at, r.not_before) end',
        after: 'end',
        noticedBy: 'leases due deliveries to one claimer only, for 45 seconds',
      },
      {
        breaks: 'a host that is at its limit gets more',
        before: 'where due.pause > 0 or due.nth_of_host <= due.host_room',
        after: 'where due.pause > 0 or due.nth_of_host > 0',
        tests: test('lane-circuit'),
        noticedBy: 'shares its room among its lanes',
      },
      {
        breaks: 'each lane of a host gets all of its room',
        before: 'greatest(1, due.host_room / due.sharing)',
        after: 'greatest(1, due.host_room)',
        tests: test('lane-circuit'),
        noticedBy: 'shares its room among its lanes',
      },
      {
        breaks: 'a lane is delayed before another process can reach its host',
        before: `l.next_due_at <= now() - interval '1.5 seconds'`,
        after: 'l.next_due_at <= now()',
        tests: test('lane-circuit'),
        noticedBy: 'with a pause delays its lanes, but not their events',
      },
      {
        breaks: 'events of a host with a pause are claimed',
        before: `     where l.pause = 0
`,
        after: '',
        tests: test('lane-circuit'),
        noticedBy: 'with a pause delays its lanes, but not their events',
      },
      {
        breaks: 'an open circuit is probed with as many as fit',
        before: `least(lane.most, l.recovery_limit) else 1 end`,
        after: `least(lane.most, l.recovery_limit) else lane.most end`,
        tests: test('lane-circuit'),
        noticedBy: 'is probed with one event, by one process',
      },
      {
        breaks: 'a recovering circuit allows all attempts immediately',
        before: 'least(lane.most, l.recovery_limit)',
        after: 'lane.most',
        tests: test('lane-circuit'),
        noticedBy: 'closes slowly: one, two, four, eight concurrent attempts',
      },
      {
        breaks: 'a probe in progress is not stored',
        before: `when r.is_probed then 'half_open' else l.circuit_state end`,
        after: 'when r.is_probed then l.circuit_state else l.circuit_state end',
        tests: test('lane-circuit'),
        noticedBy: 'stays open when an earlier delivery is released, but not when its probe is',
      },
      {
        breaks: 'notices take the places of PAID events',
        before: 'p.lane_limit else (p.lane_limit + 1) / 2 end',
        after: 'p.lane_limit else p.lane_limit end',
        tests: test('notice'),
        noticedBy: 'find free places with any notices in flight',
      },
      {
        breaks: 'notices are sent before the PAID events of their merchant',
        before: ') then 1 else 0 end) as pause',
        after: ') then 0 else 0 end) as pause',
        tests: test('notice'),
        noticedBy: 'go first: notices of the same merchant wait while one is due',
      },
      {
        breaks: 'a notice is sent although PAID has overtaken it',
        before: 'end is not null as overtaken',
        after: 'end is not null and false as overtaken',
        tests: test('order-of-events'),
        noticedBy: 'a claim withdraws a notice that a process of the release before left pending',
      },
    ],
  },
  {
    file: 'services/webhook-dispatcher/sql/settle_attempts.sql',
    tests: test('claim'),
    mutants: [
      {
        breaks: 'a failure counts after its lease has expired',
        before: 'else d.lease_id = o.lease_id and d.status = any(before_failed) end',
        after: 'else d.status = any(before_failed) end',
        noticedBy: 'counts a failure only under its own lease',
      },
      {
        breaks: 'a success counts only under its own lease',
        before: 'then d.status = any(before_delivered)',
        after: 'then d.lease_id = o.lease_id and d.status = any(before_delivered)',
        noticedBy: 'counts a success even if another process has the lease by now',
      },
      {
        breaks: 'an outcome that does not decide is written',
        before: 'where o.decides and d.event_id = o.event_id',
        after: 'where d.event_id = o.event_id',
        noticedBy: 'counts the success if one batch has a success and a failure of an event',
      },
      {
        breaks: 'an attempt is not counted',
        before: 'attempts = d.attempts + 1, lease_id',
        after: 'attempts = d.attempts, lease_id',
        noticedBy: 'makes a failure due again after its delay, and fails the event after the last one',
      },
      {
        breaks: 'a retry is due immediately',
        before: 'then now() + make_interval(secs => o.retry_delay_seconds) end',
        after: 'and o.retry_delay_seconds is not null then now() end',
        noticedBy: 'makes a failure due again after its delay, and fails the event after the last one',
      },
      {
        breaks: 'a repeated settlement fails',
        before: `
  on conflict do nothing;`,
        after: ';',
        noticedBy: 'that is repeated, because its commit may have succeeded',
      },
      {
        breaks: 'a circuit opens one failure late',
        before: `'closed' then failures + new_failures >= open_after`,
        after: `'closed' then failures + new_failures > open_after`,
        tests: test('lane-circuit'),
        noticedBy: "opens, and the lane's other events use no attempts",
      },
      {
        breaks: 'a circuit opens after failures within seconds',
        before: '(failing_since <= now() - make_interval(secs => open_after_seconds)',
        after: '(failing_since <= now()',
        tests: test('lane-circuit'),
        noticedBy: 'stays closed if all failures came within a few seconds',
      },
      {
        breaks: 'very many failures within seconds do not open a circuit',
        before: '>= 10 * open_after',
        after: '>= 20 * open_after',
        tests: test('lane-circuit'),
        noticedBy: 'opens immediately when ten times as many attempts fail',
      },
      {
        breaks: 'attempts that were in flight open a circuit for longer',
        before: `else circuit_state <> 'open' end as opens`,
        after: 'else true end as opens',
        tests: test('lane-circuit'),
        noticedBy: 'does not open for longer because of attempts that were in flight when it opened',
      },
      {
        breaks: 'a circuit is open for the same time each time',
        before: '2 ^ least(times_opened, 20)',
        after: '2 ^ least(times_opened, 0)',
        tests: test('lane-circuit'),
        noticedBy: 'is probed with one event, by one process, and opens for twice as long',
      },
      {
        breaks: 'a circuit stays open for an unlimited time',
        before: 'least(longest_open_seconds, 2 ^ least(times_opened, 20))',
        after: '2 ^ least(times_opened, 20)',
        tests: test('lane-circuit'),
        noticedBy: 'is probed with one event, by one process, and opens for twice as long',
      },
      {
        breaks: 'one success closes a circuit',
        before: `when next_limit >= recovered_at then 'closed'`,
        after: `when next_limit >= 1 then 'closed'`,
        tests: test('lane-circuit'),
        noticedBy: 'closes slowly: one, two, four, eight concurrent attempts',
      },
      {
        breaks: 'a success does not reset the count of failures',
        before: 'failures = case when after.has_success then 0',
        after: 'failures = case when after.has_success then after.failures',
        tests: test('lane-circuit'),
        noticedBy: 'stays closed while some attempts succeed',
      },
      {
        breaks: 'a lane whose circuit has opened is due immediately',
        before: 'next_due_at = case when after.opens then after.new_open_until',
        after: 'next_due_at = case when after.opens then now()',
        tests: test('lane-circuit'),
        noticedBy: "opens, and the lane's other events use no attempts",
      },
      {
        breaks: 'a notice that fails after PAID is tried again',
        before: 'perform take_back_notices(paid);',
        after: 'null;',
        tests: test('order-of-events'),
        noticedBy: 'is due once the notice',
      },
    ],
  },
  {
    file: 'services/webhook-dispatcher/sql/take_back_notices.sql',
    tests: test('order-of-events'),
    mutants: [
      {
        breaks: 'PAID does not wait for a notice in flight',
        before: 'greatest(now(), paid.free_at)',
        after: 'now()',
        noticedBy: 'waits for a notice in flight until its lease ends',
      },
      {
        breaks: 'operators are offered a notice that had failed before PAID',
        before: `(d.status = 'pending' or d.status = 'failed' and d.error_category <> 'superseded')`,
        after: `d.status = 'pending'`,
        noticedBy: 'is also refused if it had failed before',
      },
      {
        breaks: 'a notice in flight is withdrawn',
        before: 'and (d.lease_id is null or d.next_attempt_at <= now())',
        after: '',
        noticedBy: 'is due once the notice',
      },
    ],
  },
  {
    file: 'services/webhook-dispatcher/sql/lock_payments.sql',
    tests: test('order-races'),
    mutants: [
      {
        breaks: 'PAID and a notice that are stored at the same time do not see each other',
        before: 'perform pg_advisory_xact_lock(k.key)',
        after: 'perform k.key',
        noticedBy: 'PAID and a notice are stored',
      },
    ],
  },
  {
    file: 'services/webhook-dispatcher/src/events/event.sql.ts',
    tests: test('order-of-events'),
    mutants: [
      {
        breaks: 'a notice that comes after PAID is sent',
        before: 'and precedes_paid(event_type), false) as is_overtaken',
        after: 'and false, false) as is_overtaken',
        noticedBy: 'is stored as withdrawn if that event is already stored',
      },
      {
        breaks: 'a second event of a payment fails the batch',
        before: `
       on conflict (payment_id) do nothing`,
        after: '',
        tests: test('event'),
        noticedBy: 'stores one event for each payment',
      },
    ],
  },
  {
    file: 'services/webhook-dispatcher/src/lanes/backlog.sql.ts',
    tests: test('lane-circuit'),
    mutants: [
      {
        breaks: 'an event is given up while it is in flight',
        before: 'and status = any($2) and lease_id is null',
        after: 'and status = any($2)',
        noticedBy: 'are not given up while the lane is held, or while one of them is in flight',
      },
      {
        breaks: 'events of a blocked account are given up',
        before: 'make_interval(secs => $1) and not l.held',
        after: 'make_interval(secs => $1)',
        noticedBy: 'are not given up while the lane is held, or while one of them is in flight',
      },
      {
        breaks: 'a young event of an old failure is given up',
        before: `
               and cycle_started_at <= now() - make_interval(secs => $1)`,
        after: '',
        noticedBy: 'are given up after the time of all their retries',
      },
      {
        breaks: 'an old event is given up when its receiver fails for the first time',
        before: 'where l.failing_since <= now() - make_interval(secs => $1)',
        after: 'where l.failing_since <= now()',
        noticedBy: 'get the same time again when the merchant is unblocked and when its URL changes',
      },
    ],
  },
  {
    file: 'services/webhook-dispatcher/src/lanes/lane.sql.ts',
    tests: test('event'),
    mutants: [
      {
        breaks: 'a new event makes a lane due before its open circuit may be probed',
        before: 'set next_due_at = greatest(excluded.next_due_at, lane.open_until)',
        after: 'set next_due_at = excluded.next_due_at',
        noticedBy: 'moves each lane forward to now, or to the time at which its open circuit may be probed',
      },
      {
        breaks: 'an old status of an account holds or releases its events',
        before: 'where lane.status_version < excluded.status_version',
        after: 'where lane.status_version <> excluded.status_version',
        tests: test('delivery'),
        noticedBy: 'holds its events without using an attempt, and sends them after unblocking',
      },
    ],
  },
];
