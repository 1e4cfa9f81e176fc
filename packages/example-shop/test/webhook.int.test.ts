import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Payment } from '@quittance/sdk';
import { findOrder, storePayment } from '../src/orders.ts';
import { keys, openShop, paidEvent, type OpenShop } from './open-shop.ts';

let shop: OpenShop;
beforeAll(async () => {
  shop = await openShop();
});
beforeEach(async () => {
  shop.lines.length = 0;
  await shop.db.query('truncate shop_order, webhook_event cascade');
});
afterAll(() => shop.close());

test('an event that arrives twenty times at the same moment ships the goods once', async () => {
  const order = await shop.order();
  const event = paidEvent(order);
  const answers = await Promise.all(Array.from({ length: 20 }, () => shop.send(event)));
  expect(new Set(answers)).toEqual(new Set([204]));
  expect(await shop.shipped()).toEqual([order.order_id]);
  expect(await shop.send(event)).toBe(204);
  expect(await findOrder(shop.db, order.order_id)).toMatchObject({ paid_by: event.payment_id, notes: [] });
  expect(await shop.shipped()).toEqual([order.order_id]);
});

test('two events of one payment ship the goods once; so do two payments of one order, and the second payment is recorded', async () => {
  const order = await shop.order();
  const event = paidEvent(order);
  const others = [paidEvent(order, { payment_id: event.payment_id }), paidEvent(order)];
  expect(await shop.send(event)).toBe(204);
  expect(await Promise.all(others.map((other) => shop.send(other)))).toEqual([204, 204]);
  expect(await shop.shipped()).toEqual([order.order_id]);
  expect(await findOrder(shop.db, order.order_id)).toMatchObject({
    paid_by: event.payment_id,
    notes: [`Paid a second time, by payment ${others[1]!.payment_id}: give that money back.`],
  });
});

test('an event that arrives before the answer to the creation pays the order, and the late answer undoes nothing', async () => {
  const order = await shop.order();
  const { payment_id } = paidEvent(order);
  expect(await shop.send(paidEvent(order, { payment_id }))).toBe(204);
  const answer = { payment_id, order_id: order.order_id, status: 'PENDING', amount: '12.50' };
  const rest = { payment_url: 'http://127.0.0.1:1/pay/x', created_at: new Date().toISOString() };
  await storePayment(shop.db, { ...answer, ...rest } as Payment);
  expect(await findOrder(shop.db, order.order_id)).toMatchObject({
    paid_by: payment_id,
    paid_at: expect.any(Date),
    payments: [{ payment_id, amount: '12.50' }],
  });
  expect(await (await fetch(`${shop.url}/orders/${order.order_id}`)).text()).toContain('We are packing it');
});

test.each(['0.01', '12.49', '12.51', '125.00'])(
  'a payment of %s for an order of 12.50 ships nothing, and is noted',
  async (amount) => {
    const order = await shop.order();
    const event = paidEvent(order, { expected_amount: amount, payment_id: 'pay_<b>' });
    expect([await shop.send(event), await shop.send(event)]).toEqual([204, 204]);
    expect(await shop.shipped()).toEqual([]);
    expect(await findOrder(shop.db, order.order_id)).toMatchObject({
      paid_at: null,
      notes: [`Payment pay_<b> is for ${amount} USDT, the order costs 12.50 USDT.`],
    });
  },
);

test('an event that failed has no effect, and has it when it is sent again', async () => {
  const order = await shop.order();
  const event = paidEvent(order);
  await shop.db.query('alter table shipment rename to hidden');
  expect(await shop.send(event)).toBe(500);
  await shop.db.query('alter table hidden rename to shipment');
  expect(await findOrder(shop.db, order.order_id)).toMatchObject({ paid_at: null });
  expect(await shop.send(event)).toBe(204);
  expect(await shop.shipped()).toEqual([order.order_id]);
});

test('a request that is not signed with one of our keys is refused and does nothing, and one log line says why', async () => {
  const order = await shop.order();
  const forged = await shop.send(paidEvent(order), { key: 'whsec_guessed' });
  const unknown = await shop.send(paidEvent(order), { keyId: 'whk_of_another' });
  expect([forged, unknown]).toEqual([400, 401]);
  expect(await shop.shipped()).toEqual([]);
  expect(shop.lines).toEqual([
    'a webhook was refused: WebhookVerificationError: the signature is wrong',
    'a webhook was refused: WebhookVerificationError: there is no key whk_of_another',
  ]);
});

test('both keys are accepted while one replaces the other', async () => {
  const orders = await Promise.all(keys.map(() => shop.order()));
  for (const [position, { id, key }] of keys.entries())
    expect(await shop.send(paidEvent(orders[position]!), { keyId: id, key })).toBe(204);
  expect((await shop.shipped()).sort()).toEqual(orders.map((order) => order.order_id).sort());
});

test('an event for no order of this shop is accepted, so that it is not sent forever', async () => {
  const order = await shop.order();
  const statuses = await Promise.all(
    [undefined, 'order-1', '01234567-89ab-4def-8123-456789abcdef'].map((order_id) =>
      shop.send(paidEvent(order, { order_id })),
    ),
  );
  expect(statuses).toEqual([204, 204, 204]);
  expect(await shop.shipped()).toEqual([]);
  expect(shop.lines).toHaveLength(3);
});
