import type { LookUpAccount } from '@quittance/contracts/http/chain-watcher/look-ups.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';

/** For one client address of customers, whatever links it has. */
const ofClient = { limit: 30, windowSeconds: 3600 };

/** For one checkout link. Its window is a day, so that a link that was used up is not asking for the first time an hour later. */
const ofLink = { limit: 20, windowSeconds: 86_400 };

/** How many questions of each link are asked whatever others have used: whoever has just paid may have to ask again, or mistyped. */
const KEPT_FOR_A_LINK = 3;

/** How much of a provider's day for look-ups a question may use. What customers ask again leaves the other half for first questions. */
const WHOLE_DAY = 1;
const HALF_DAY = 0.5;

/**
 * Takes one look-up out of the budgets of whoever asks.
 *
 * A stranger may have many links, because anybody can order in an anonymous shop. So no budget that he shares with other customers decides
 * about the first questions of a link: they are bounded by the number of links, which the merchant's limits for creations bound, and by the
 * budget of his address.
 * @param limitPerHour of a merchant and its customers together. Customers may use half of it, first questions aside; 0 turns look-ups off.
 * @returns how much of each provider's day it may use; null when it is not to be looked up now.
 */
export async function takeFromBudget(
  db: Queryable,
  { merchant_id: merchantId, by, link, client }: LookUpAccount,
  limitPerHour: number,
): Promise<number | null> {
  if (limitPerHour < 1) return null;
  if (by === 'merchant') return (await takeLookUp(db, merchantId, limitPerHour)) ? WHOLE_DAY : null;
  if (client !== undefined && (await takeCustomerLookUp(db, `client ${client}`, ofClient)) === null) return null;
  // Without a link it comes from payments of an older release.
  if (link !== undefined) {
    const used = await takeCustomerLookUp(db, `link ${link}`, ofLink);
    if (used === null) return null;
    if (used <= KEPT_FOR_A_LINK) return WHOLE_DAY;
  }
  return (await takeLookUp(db, merchantId, Math.floor(limitPerHour / 2))) ? HALF_DAY : null;
}

const WINDOW = `interval '1 hour'`;

/**
 * Takes one look-up out of a merchant's hour, which begins with its first.
 * @param limit what may be used of it by now, this one included.
 * @returns false when that much is used already; nothing is taken then.
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
 * Takes one look-up out of the window of a link or of a client address. Forgets a few windows that are over: with two rows at most for each
 * look-up, the table stays as small as a day's look-ups.
 * @returns how much of it is used now, this one included; null when all of it was used already.
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
