import type { CallOptions, Price } from '@quittance/sdk';
import { articleOf } from './catalogue.ts';
import { inTransaction } from './database.ts';
import { findOrder, settle, storePayment, type Order } from './orders.ts';
import type { Shop } from './shop.ts';

export const orderPath = (orderId: string): string => `/orders/${orderId}`;

/**
 * The URL for a customer who wants to pay: of the waiting payment, or of a new one.
 * @throws QuittanceError when no payment could be created; then the same call may be repeated.
 */
export async function paymentUrl(shop: Shop, { order_id }: Order): Promise<string> {
  // A payment may have been created without its answer arriving here, and a known one may have ended since.
  await refresh(shop, order_id);
  const order = await findOrder(shop.db, order_id);
  if (order === null || order.paid_at !== null) return shop.config.shopUrl + orderPath(order_id);
  const [newest] = order.payments;
  if (newest !== undefined && !['EXPIRED', 'CANCELLED'].includes(newest.status)) return newest.payment_url;

  await shop.db.query('update shop_order set attempted_at = now() where order_id = $1', [order_id]);
  const payment = await shop.quittance.createPayment(
    {
      ...asked(order),
      // An address for this payment alone: whatever arrives there is this customer's.
      wallet_pool: shop.config.walletPool,
      // Anyone with the link sees it, so it has no customer's name.
      description: `Order ${order.number}: ${articleOf(order.article)?.name ?? order.article}`,
      order_id,
      return_url: shop.config.shopUrl + orderPath(order_id),
    },
    // However often this is repeated, by us or by an impatient customer, the order has one payment until that has ended.
    { idempotencyKey: `${order_id}.${order.payments.length + 1}` },
  );
  await storePayment(shop.db, payment);
  return payment.payment_url;
}

/** A price in another currency is converted once, when the payment is created: a repeated request gets the first amount. */
const asked = ({ price, currency }: Order): { amount: string } | { price: Price } =>
  currency === 'USDT' ? { amount: price } : { price: { amount: price, currency } };

/**
 * Reads the state of an order's payments from Quittance. The query uses the order, which also finds a payment that the shop does not know:
 * its creation succeeded, and the answer was lost.
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
