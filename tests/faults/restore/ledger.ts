import { randomUUID } from 'node:crypto';
import { eventually } from '@quittance/testkit/eventually.ts';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import type { Shop } from '../../support/shop.ts';

/** A shop's record of a creation that was answered 201. */
export type Order = { shop: Shop; key: string; amount: string; body: string; payment: Payment };

/** Long enough for a machine under load; no result depends on it. */
const patience = { intervalMs: 1_000 };

/** Creates payments at each shop, each with a different amount. */
export async function order(shops: readonly Shop[], count: number, firstCents: number): Promise<Order[]> {
  const orders: Order[] = [];
  for (let position = 0; position < count; position += 1) {
    orders.push(...(await Promise.all(shops.map((shop) => orderOne(shop, firstCents + position)))));
  }
  return orders;
}

/** Repeats the request with the same key until the payment is created, as a merchant would. */
async function orderOne(shop: Shop, cents: number): Promise<Order> {
  const [key, amount] = [randomUUID(), (cents / 100).toFixed(2)];
  return eventually(async () => {
    const answer = await shop.create(amount, key);
    if (answer.status !== 201) throw new Error(`creation answered ${answer.status} ${answer.text}`);
    return { shop, key, amount, body: answer.text, payment: answer.body };
  }, patience);
}

export async function pay(orders: readonly Order[]): Promise<void> {
  for (const { shop, amount } of orders) await shop.pay(amount);
}

/** Waits until all of them are PAID. */
export async function untilPaid(orders: readonly Order[]): Promise<void> {
  for (const { shop, payment } of orders) {
    await eventually(async () => {
      const { status } = await shop.details(payment.payment_id);
      if (status !== 'PAID') throw new Error(`${payment.payment_id} is ${status}`);
    }, patience);
  }
}

/** @returns the ids of the events that each payment's shop received, by payment. */
export async function received(orders: readonly Order[]): Promise<Map<string, Set<string>>> {
  const events = new Map<string, Set<string>>();
  for (const shop of new Set(orders.map((order) => order.shop))) {
    for (const { body } of await shop.webhooks()) {
      events.set(body.payment_id, (events.get(body.payment_id) ?? new Set()).add(body.event_id));
    }
  }
  return events;
}

/** Waits until the shops have received the event of every one of these payments. */
export async function untilHeard(orders: readonly Order[]): Promise<void> {
  await eventually(async () => {
    const events = await received(orders);
    const missing = orders.filter(({ payment }) => !events.has(payment.payment_id));
    if (missing.length > 0) throw new Error(`${missing.length} payments have no delivered event`);
  }, patience);
}
