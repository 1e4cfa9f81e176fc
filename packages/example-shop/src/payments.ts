import type { CallOptions } from '@quittance/sdk';
import { articleOf } from './catalogue.ts';
import { inTransaction } from './database.ts';
import { findOrder, settle, storePayment, type Order } from './orders.ts';
import type { Shop } from './shop.ts';

/** Amounts of carts that nobody pays are free again after that. */
const PAYMENT_SECONDS = 900;

export const orderPath = (orderId: string): string => `/orders/${orderId}`;

/**
 * Where to send a customer who wants to pay: to the payment that waits, or to a new one.
 * @throws QuittanceError when no payment could be made; then the same call may be made again.
 */
export async function paymentUrl(shop: Shop, { order_id }: Order): Promise<string> {
  // A payment may have been made whose answer never came here, and one that is known may have ended since.
  await refresh(shop, order_id);
  const order = await findOrder(shop.db, order_id);
  if (order === null || order.paid_at !== null) return shop.config.shopUrl + orderPath(order_id);
  const [newest] = order.payments;
  if (newest !== undefined && !['EXPIRED', 'CANCELLED'].includes(newest.status)) return newest.payment_url;

  await shop.db.query('update shop_order set attempted_at = now() where order_id = $1', [order_id]);
  const payment = await shop.quittance.createPayment(
    {
      amount: order.price,
      // Other customers may be paying the same price to the same wallet at this moment.
      unique_amount: true,
      merchant_wallet: shop.config.wallet,
      // Whoever has the link sees it, so it names nobody.
      description: `Order ${order.number}: ${articleOf(order.article)?.name ?? order.article}`,
      order_id,
      return_url: shop.config.shopUrl + orderPath(order_id),
      expires_in: PAYMENT_SECONDS,
    },
    // However often this is repeated, by us or by an impatient customer, the order gets one payment until that has ended.
    { idempotencyKey: `${order_id}.${order.payments.length + 1}` },
  );
  await storePayment(shop.db, payment);
  return payment.payment_url;
}

/**
 * Asks Quittance how an order's payments stand. They are asked for by the order, which also finds a payment that the shop does not
 * know: its creation succeeded, and the answer was lost.
 */
export async function refresh(shop: Shop, orderId: string, call: CallOptions = {}): Promise<void> {
  const payments = await shop.quittance.listPayments({ order_id: orderId }, call);
  await inTransaction(shop.db, async (tx) => {
    for (const payment of payments) {
      await storePayment(tx, payment);
      if (payment.status === 'PAID') await settle(tx, { ...payment, order_id: orderId });
    }
  });
}
