import type { LookUpAccount } from '@quittance/contracts/http/chain-watcher/look-ups.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';

/** For one client address of customers, over all its links. */
const ofClient = { limit: 30, windowSeconds: 3600 };

/** For one checkout link. Its window is a day, so that an hour later a used-up link's look-ups do not count as its first ones. */
const ofLink = { limit: 20, windowSeconds: 86_400 };

/** Each link's first look-ups are allowed even if others have used up the budget: a customer who has just paid may retry, or mistype. */
const KEPT_FOR_A_LINK = 3;

/** Up to which share of a provider's daily look-ups this one may run. Customers' repeated look-ups leave half for first ones. */
const WHOLE_DAY = 1;
const HALF_DAY = 0.5;

/**
 * Takes one look-up out of the caller's budgets.
 *
 * A stranger may have many links, because anyone can order in an anonymous shop. So no budget that customers share limits the first look-ups
 * of a link. These are limited by the number of links, which the merchant's creation limits bound, and by the budget of the client's address.
 * @param limitPerHour of a merchant and its customers together. Customers may use half of it, in addition to first look-ups. 0 turns
 *   look-ups off.
 * @returns up to which share of each provider's daily look-ups this one may run; null when the budget is used up.
 */
export async function takeFromBudget(
  db: Queryable,
  { merchant_id: merchantId, by, link, client }: LookUpAccount,
  limitPerHour: number,
): Promise<number | null> {
  if (limitPerHour < 1) return null;
  if (by === 'merchant') return (await takeLookUp(db, merchantId, limitPerHour)) ? WHOLE_DAY : null;
  if (client !== undefined && (await takeCustomerLookUp(db, `client ${client}`, ofClient)) === null) return null;
  // Without a link, the request comes from an older release of payments.
  if (link !== undefined) {
    const used = await takeCustomerLookUp(db, `link ${link}`, ofLink);
    if (used === null) return null;
    if (used <= KEPT_FOR_A_LINK) return WHOLE_DAY;
  }
  return (await takeLookUp(db, merchantId, Math.floor(limitPerHour / 2))) ? HALF_DAY : null;
}

const WINDOW = `interval '1 hour'`;

/**
 * Takes one look-up out of a merchant's hour, which begins with its first look-up.
 * @param limit how many may be used in the hour, including this one.
 * @returns false when that many are already used. Nothing is taken then.
 */
async function takeLookUp(db: Queryable, merchantId: string, limit: number): Promise<boolean> {
  if (limit < 1) return false;
  const { rowCount } = await db.query(
    `insert into look_up_window as w (merchant_id, started_at, used) values ($1, now(), 1)
     on conflict (merchant_id) do update set
       started_at = case when w.started_at <= now() - ${WINDOW} then now() else w.started_at end,
       used = case when w.started_at <= now() - ${WINDOW} then 1 else w.used + 1 end
     where w.started_at <= now() - ${WINDOW} or w.used < $2`,
    [merchantId, limit],
  );
  return rowCount === 1;
}

/**
 * Takes one look-up out of the window of a link or of a client address. It also deletes a few expired windows. A look-up adds at most two
 * rows, so the table never holds much more than a day's look-ups.
 * @returns how many are used now, including this one; null when all were already used.
 */
async function takeCustomerLookUp(
  db: Queryable,
  subject: `link ${string}` | `client ${string}`,
  { limit, windowSeconds }: { limit: number; windowSeconds: number },
): Promise<number | null> {
  const { rows } = await db.query<{ used: number }>(
    `with over as (
       delete from customer_look_up where subject in (
         select subject from customer_look_up
         where ends_at <= now() and subject <> $1 order by ends_at limit 10 for update skip locked)
     )
     insert into customer_look_up as w (subject, used, ends_at) values ($1, 1, now() + $3 * interval '1 second')
     on conflict (subject) do update set
       used = case when w.ends_at <= now() then 1 else w.used + 1 end,
       ends_at = case when w.ends_at <= now() then excluded.ends_at else w.ends_at end
     where w.ends_at <= now() or w.used < $2
     returning used`,
    [subject, limit, windowSeconds],
  );
  return rows[0]?.used ?? null;
}
