import { findBroken } from '@quittance/postgres/broken-rules.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { eventRules } from '../../src/events/check.sql.ts';

/**
 * Looks for what must never be in the dispatcher's rows, whatever was killed, frozen, repeated or raced: at any moment at which no
 * transaction is under way.
 * I7 one event, whose id and bytes are what it says · I8 nothing pends without a due time that its lane knows of, and a success is a
 * fact · I12 no replaced key signs · I13 a manual retry and its audit row exist together · nothing that PAID overtakes follows it.
 * @param db on the search path of the webhooks schema.
 * @returns a line for each violation; none when all is well.
 */
export async function findViolations(db: Queryable): Promise<string[]> {
  const found = await findBroken(
    db,
    eventRules(() => 'true'),
    [],
  );
  return [...found.map(({ rule, what }) => `${rule}: ${what}`), ...(await findDisorder(db))];
}

/** Each notice that PAID overtakes (n), with its delivery (nd), and the PAID event of its payment (p, pd). */
const overtaken = `
  event n
  join delivery nd on nd.event_id = n.event_id
  join event p on p.payment_id = n.notice_payment_id
  join delivery pd on pd.event_id = p.event_id
 where n.event_type in ('payment.checking', 'payment.expired', 'payment.cancelled')`;

/** Rows of one moment, compared with the clock of a later one: a lease that has lapsed by then may have lapsed before. */
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

/** The same of the order of events alone, at any moment, whatever is under way. */
export async function findDisorder(db: Queryable): Promise<string[]> {
  return (await findBroken(db, orderRules, [])).map(({ rule, what }) => `${rule}: ${what}`);
}

/**
 * Attempts that were written down in another order than they may begin. Only where leases last as long as they do in production: there a
 * process that was frozen for a third of one begins nothing.
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
