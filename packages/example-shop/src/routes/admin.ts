import { QuittanceError } from '@quittance/sdk';
import express, { Router, type Response } from 'express';
import { acceptFor, candidatesOf, type Choice } from '../acceptance.ts';
import { inTransaction } from '../database.ts';
import { known } from '../not-found.ts';
import { findOrder, listOrders, settle, storePayment, type WholeOrder } from '../orders.ts';
import { adminListPage, adminOrderPage, type ShownPayment } from '../pages/admin.ts';
import { refresh } from '../payments.ts';
import { inOneLine, type Shop } from '../shop.ts';
import { field } from './customer.ts';

const ORDERS_PER_PAGE = 50;
/** If an order has more payments, the newest: each is a request to Quittance. */
const MOST_PAYMENTS = 5;

/** For the shop's staff. Access is checked before this. */
export function adminRoutes(shop: Shop): Router {
  const router = Router();

  router.get('/', async (request, response) => {
    const { before } = request.query;
    const from = typeof before === 'string' && /^\d{1,15}$/.test(before) ? before : null;
    const orders = await listOrders(shop.db, from, ORDERS_PER_PAGE);
    const last = orders.length === ORDERS_PER_PAGE ? orders.at(-1) : undefined;
    response.send(adminListPage(orders, last?.number ?? null));
  });

  router.get('/orders/:orderId', async (request, response) => {
    await sendOrder(shop, request.params.orderId, response);
  });

  router.post(
    '/orders/:orderId/accept',
    express.urlencoded({ extended: false, limit: '2kb' }),
    async (request, response) => {
      const order = known(await findOrder(shop.db, request.params.orderId));
      const paymentId = field(request.body, 'payment_id');
      known(order.payments.find((payment) => payment.payment_id === paymentId));
      const choice: Choice = {
        transaction_id: field(request.body, 'transaction_id'),
        transaction_event_index: Number(field(request.body, 'transaction_event_index')),
        confirmed: Number(field(request.body, 'confirmed')) || null,
      };
      try {
        const problem = await accept(shop, order, paymentId, choice);
        if (problem === null) response.redirect(303, `/admin/orders/${order.order_id}`);
        else await sendOrder(shop, order.order_id, response.status(409), problem);
      } catch (error) {
        if (!(error instanceof QuittanceError)) throw error;
        shop.log(`order ${order.number}: a transfer was not accepted: ${inOneLine(error)}`);
        await sendOrder(shop, order.order_id, response.status(409), refusal(error));
      }
    },
  );

  return router;
}

/** @returns why nothing was accepted, else null. The webhook that follows finds the order paid. */
async function accept(
  shop: Shop,
  { order_id, paid_at: paidAt }: WholeOrder,
  paymentId: string,
  choice: Choice,
): Promise<string | null> {
  if (paidAt !== null) return 'Not accepted. This order is paid already.';
  const payment = await acceptFor(shop, paymentId, choice);
  if (typeof payment === 'string') return payment;
  await inTransaction(shop.db, async (tx) => {
    await storePayment(tx, payment);
    await settle(tx, { ...payment, order_id });
  });
  return null;
}

const refusal = ({ code }: QuittanceError): string =>
  code === 'transfer_not_acceptable'
    ? 'Not accepted. A transfer can be accepted once it is final on the chain, which can take minutes, if it carries 90 % of the amount or more, and if it is not the amount of another order.'
    : 'Not accepted: Quittance could not do it now. Try again.';

async function sendOrder(
  shop: Shop,
  orderId: string,
  response: Response,
  problem: string | null = null,
): Promise<void> {
  const { number } = known(await findOrder(shop.db, orderId));
  const details = await detailsOf(shop, orderId).catch((error: unknown) => {
    shop.log(`order ${number} could not be looked up: ${inOneLine(error)}`);
    return null;
  });
  response.send(adminOrderPage(known(await findOrder(shop.db, orderId)), details, problem));
}

async function detailsOf(shop: Shop, orderId: string): Promise<ShownPayment[]> {
  await refresh(shop, orderId);
  const { payments } = known(await findOrder(shop.db, orderId));
  const asked = payments.slice(0, MOST_PAYMENTS).map(async ({ payment_id: id }) => {
    const payment = await shop.quittance.getPaymentDetails(id);
    return { payment, transfers: await candidatesOf(shop, payment) };
  });
  return Promise.all(asked);
}
