import type { LookUpAccount } from '@quittance/contracts/http/chain-watcher/look-ups.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { takeCustomerLookUp, takeLookUp } from '../store/look-up-window.ts';

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
