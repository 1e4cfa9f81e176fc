import { findBroken } from '@quittance/postgres/broken-rules.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { eventRules } from '../../src/events/check.sql.ts';

/**
 * Looks for violations in the dispatcher's rows, after any kills, freezes, repetitions and races, at a moment without a running
 * transaction.
 * I7 one event with its id and its bytes · I8 every pending delivery has a due time that its lane knows, and a success stays a
 * success · I12 no replaced key signs · I13 a manual retry and its audit row exist together · no notice wrongly follows PAID.
 * @param db on the search path of the webhooks schema.
 * @returns a line for each violation.
 */
export async function findViolations(db: Queryable): Promise<string[]> {
  const found = await findBroken(
    db,
    eventRules(() => 'true'),
    [],
  );
  return [...found.map(({ rule, what }) => `${rule}: ${what}`), ...(await findDisorder(db))];
}

/** Each notice that must not follow PAID (n) with its delivery (nd), and the PAID event of its payment (p) with its delivery (pd). */
const overtaken = `
  event n
  join delivery nd on nd.event_id = n.event_id
  join event p on p.payment_id = n.notice_payment_id
  join delivery pd on pd.event_id = p.event_id
 where n.event_type in ('payment.checking', 'payment.expired', 'payment.cancelled')`;

/** Rows of one moment, compared with a later clock: a lease that has expired by then may have expired before. */
const orderRules = {
  'no notice waits to be begun after the PAID event of its payment is stored': `
    select format('%s, %s', n.event_id, p.event_id) as what from ${overtaken} and nd.status = 'pending' and nd.lease_id is null`,
  'PAID begins when no notice of its payment is in flight': `
    select format('%s, %s', n.event_id, p.event_id) as what from ${overtaken}
       and nd.status = 'pending' and nd.next_attempt_at > clock_timestamp()
       and (pd.status <> 'pending' or pd.lease_id is not null or pd.attempts > 0)`,
  'what PAID has overtaken is called so': `
    select format('%s is %s', n.event_id, nd.error_category) as what from ${overtaken}
       and nd.status = 'failed' and nd.error_category <> 'superseded'`,
};

/** Only the order of events, at any moment, also with running transactions. */
export async function findDisorder(db: Queryable): Promise<string[]> {
  return (await findBroken(db, orderRules, [])).map(({ rule, what }) => `${rule}: ${what}`);
}

/**
 * Attempts that were stored in an order in which they must not start. Only with leases as long as in production: there a
 * process that was frozen for a third of a lease starts nothing.
 */
export async function findOvertakenAttempts(db: Queryable): Promise<string[]> {
  const text = `
    select format('%s was begun at %s, and %s before it, at %s', n.event_id, na.started_at, p.event_id, pa.started_at) as what
      from attempt na cross join attempt pa cross join ${overtaken}
       and na.event_id = n.event_id and pa.event_id = p.event_id and na.started_at >= pa.started_at`;
  return (await findBroken(db, { 'a notice was begun after PAID': text }, [])).map(
    ({ rule, what }) => `${rule}: ${what}`,
  );
}
