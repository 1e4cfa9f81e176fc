import { QuittanceError } from '@quittance/sdk';
import express, { Router } from 'express';
import { articleOf } from '../catalogue.ts';
import { inTransaction } from '../database.ts';
import { known } from '../not-found.ts';
import { findOrder, orderFor, type Order, type WholeOrder } from '../orders.ts';
import { cataloguePage } from '../pages/catalogue.ts';
import { orderPage } from '../pages/order.ts';
import { orderPath, paymentUrl, refresh } from '../payments.ts';
import { inOneLine, type Shop } from '../shop.ts';
import { limitedByVisitor, visitorOf } from '../visitors.ts';

/** The least time between two checks, however often a customer reloads. */
const SECONDS_BETWEEN_LOOKS = 5;
/** After this the page shows what the shop itself knows. */
const LOOK_TIMEOUT_MS = 3_000;

export function customerRoutes(shop: Shop): Router {
  const router = Router();
  const form = express.urlencoded({ extended: false, limit: '2kb' });
  router.post(['/orders', '/orders/:orderId/pay', '/orders/:orderId/cancel'], limitedByVisitor(shop));

  // A visitor who only reads gets a cookie, and no payment.
  router.get('/', (request, response) => {
    visitorOf(request, response);
    response.send(cataloguePage(shop.config.currency));
  });

  router.post('/orders', form, async (request, response) => {
    const article = known(articleOf(field(request.body, 'article')));
    // The order exists before its payment, so that every event of the payment can be linked to it.
    const visitor = visitorOf(request, response);
    const order = await inTransaction(shop.db, (tx) => orderFor(tx, visitor, article, shop.config.currency));
    response.redirect(303, await whereToPay(shop, order));
  });

  router.get('/orders/:orderId', async (request, response) => {
    const order = known(await upToDate(shop, request.params.orderId));
    response.send(orderPage(order, { hasFailed: request.query['failed'] !== undefined }));
  });

  router.post('/orders/:orderId/pay', async (request, response) => {
    const order = known(await findOrder(shop.db, request.params.orderId));
    response.redirect(303, await whereToPay(shop, order));
  });

  router.post('/orders/:orderId/cancel', async (request, response) => {
    const order = known(await findOrder(shop.db, request.params.orderId));
    await cancel(shop, order);
    response.redirect(303, orderPath(order.order_id));
  });

  return router;
}

/** The checkout; or back to the order, which offers to try again, when there is no payment. */
async function whereToPay(shop: Shop, order: Order): Promise<string> {
  try {
    return await paymentUrl(shop, order);
  } catch (error) {
    shop.log(`order ${order.number} got no payment: ${inOneLine(error)}`);
    return `${orderPath(order.order_id)}?failed`;
  }
}

/**
 * The order for its page. A customer who returns from the checkout proves nothing, and a webhook may be on its way, so this asks Quittance,
 * unless it did a moment ago.
 */
async function upToDate(shop: Shop, orderId: string): Promise<WholeOrder | null> {
  const order = await findOrder(shop.db, orderId);
  if (order === null || order.paid_at !== null) return order;
  const { rowCount } = await shop.db.query(
    `update shop_order set checked_at = now()
      where order_id = $1 and checked_at < now() - make_interval(secs => $2)`,
    [orderId, SECONDS_BETWEEN_LOOKS],
  );
  if (rowCount !== 1) return order;
  try {
    await refresh(shop, orderId, { signal: AbortSignal.timeout(LOOK_TIMEOUT_MS) });
  } catch (error) {
    shop.log(`order ${order.number} could not be looked up: ${inOneLine(error)}`);
  }
  return findOrder(shop.db, orderId);
}

async function cancel(shop: Shop, { order_id, number, payments: [newest] }: WholeOrder): Promise<void> {
  if (newest === undefined) return;
  try {
    await shop.quittance.cancelPayment(newest.payment_id);
  } catch (error) {
    // It was paid meanwhile, or has already ended; the order's page shows which.
    if (!(error instanceof QuittanceError)) throw error;
    shop.log(`order ${number} was not cancelled: ${inOneLine(error)}`);
  }
  await refresh(shop, order_id).catch((error: unknown) => {
    shop.log(`order ${number} could not be looked up: ${inOneLine(error)}`);
  });
}

/** A field of a form, which may be anything. */
export function field(body: unknown, name: string): string {
  const value = (body as Record<string, unknown> | undefined)?.[name];
  return typeof value === 'string' ? value : '';
}
