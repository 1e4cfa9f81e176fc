import { setTimeout as delay } from 'node:timers/promises';
import { refresh } from './payments.ts';
import { inOneLine, type Shop } from './shop.ts';

/** Quittance answers 120 reads a minute, for all requests of the shop. */
const MOST_ORDERS = 20;

/**
 * Compares open orders with Quittance, regularly and at every start, so that a missing webhook loses nothing.
 * @param stopping ends it.
 */
export async function reconcile(shop: Shop, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    await round(shop, stopping).catch((error: unknown) => {
      if (!stopping.aborted) shop.log(`orders could not be compared: ${inOneLine(error)}`);
    });
    await delay(shop.config.reconcileSeconds * 1_000, null, { signal: stopping }).catch(() => null);
  }
}

async function round(shop: Shop, signal: AbortSignal): Promise<void> {
  for (const orderId of await dueOrders(shop)) {
    if (signal.aborted) return;
    await refresh(shop, orderId, { signal });
  }
}

/**
 * Orders without changes are checked less and less often, each time after another tenth of their age, and after a week no more: a person
 * handles such late money. Several processes of the shop get different orders.
 */
async function dueOrders({ db, config }: Shop): Promise<string[]> {
  const { rows } = await db.query<{ order_id: string }>(
    `update shop_order set checked_at = now() where order_id in (
       select order_id from shop_order
        where paid_at is null and attempted_at > now() - interval '7 days'
          and checked_at < now() - greatest(make_interval(secs => $1), (now() - attempted_at) / 10)
        order by checked_at limit $2 for update skip locked)
     returning order_id`,
    [config.reconcileSeconds, MOST_ORDERS],
  );
  return rows.map((row) => row.order_id);
}
