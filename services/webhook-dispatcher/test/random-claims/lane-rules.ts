import type { Queryable } from '@quittance/postgres/pool.ts';
import { HOST_PAUSE_SECONDS, LANE_PAUSE_SECONDS, LEASE_SECONDS, policy } from './times.ts';

/**
 * Looks for violations in the lanes, at any moment and with running transactions: each rule reads the committed rows of one
 * moment, and compares them with a later clock.
 * @returns the violations, each with its lane.
 */
export async function findLaneViolations(db: Queryable): Promise<{ what: string; shown: string }[]> {
  const { rows } = await db.query<{ rule: string; lane: { merchant_id: string } }>(`${union} limit 5`, [
    HOST_PAUSE_SECONDS,
    Math.max(LEASE_SECONDS, LANE_PAUSE_SECONDS, policy.longestOpenSeconds),
    policy.recoveredAt,
  ]);
  return rows.map(({ rule, lane }) => ({ what: `${rule}: ${lane.merchant_id}`, shown: JSON.stringify(lane) }));
}

/** Adds to each lane `l` its earliest pending delivery; a notice lane waits a second while PAID events are due. $1: longest pause of a host, $2: longest pause of a lane, $3: recovered at. */
const rules = {
  'what pends is due at a time its lane knows of': `
    l.earliest is not null
    and (l.next_due_at is null
         or l.next_due_at > greatest(l.earliest, l.open_until, clock_timestamp() + make_interval(secs => greatest($1::float8, case when l.notices_of is null then 0 else 1 end))))`,
  'no circuit is open for longer than it may': `l.open_until > clock_timestamp() + make_interval(secs => $2)`,
  'an open or half-open circuit has an end, and no other has one': `
    (l.circuit_state in ('open', 'half_open')) <> (l.open_until is not null)`,
  'a circuit recovers in steps': `
    (l.circuit_state = 'recovering') <> (l.recovery_limit is not null) or not l.recovery_limit between 2 and $3::int - 1`,
  'a closed circuit has not opened': `l.times_opened > 0 and l.circuit_state = 'closed'`,
  'failures have a beginning and a reason': `
    (l.failures = 0) <> (l.failing_since is null) or l.failures < 0 or (l.failures > 0 and l.error_category is null)`,
};

const union = `
  with l as materialized (
    select *, now() as at
      from (
        select merchant_id, min(next_attempt_at) as earliest, count(*) as pending from delivery where status = 'pending' group by 1
      ) d
      full join lane using (merchant_id)
  )
  select r.rule, to_jsonb(l) as lane
    from l
   cross join lateral (values ${Object.entries(rules)
     .map(([rule, violated]) => `('${rule}', ${violated})`)
     .join(', ')}) r(rule, violated)
   where r.violated`;
