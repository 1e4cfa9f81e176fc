import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { findOrder } from '../src/orders.ts';
import { openShop, paidEvent, type OpenShop } from './open-shop.ts';

/** The creations that a replacement for Quittance received. */
const created: { price?: object; order_id: string }[] = [];

let quittance: Server;
let shop: OpenShop;
beforeAll(async () => {
  quittance = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      response.setHeader('content-type', 'application/json');
      if (request.method === 'GET') return response.end(JSON.stringify({ payments: [] }));
      const creation = JSON.parse(Buffer.concat(chunks).toString()) as (typeof created)[number];
      created.push(creation);
      const payment = { payment_id: 'pay_1', payment_url: 'http://127.0.0.1:1/pay/x', status: 'PENDING' };
      const made = { ...payment, created_at: new Date().toISOString(), amount: '14.52', ...creation };
      return response.writeHead(201).end(JSON.stringify(made));
    });
  }).listen(0, '127.0.0.1');
  await once(quittance, 'listening');
  shop = await openShop(`http://127.0.0.1:${(quittance.address() as AddressInfo).port}`, 'EUR');
});
beforeEach(() => shop.db.query('truncate shop_order, webhook_event cascade'));
afterAll(async () => {
  await shop.close();
  quittance.closeAllConnections();
  quittance.close();
});

test('a shop with prices in euros shows them, and asks for the price instead of an amount', async () => {
  expect(await (await fetch(shop.url)).text()).toContain('12.50 EUR');
  const body = new URLSearchParams({ article: 'cup' });
  const bought = await fetch(`${shop.url}/orders`, { method: 'POST', body, redirect: 'manual' });
  expect(bought.headers.get('location')).toBe('http://127.0.0.1:1/pay/x');
  expect(created).toMatchObject([{ price: { amount: '12.50', currency: 'EUR' } }]);
  expect(created[0]).not.toHaveProperty('amount');
  expect(await (await fetch(`${shop.url}/orders/${created[0]!.order_id}`)).text()).toContain('12.50 EUR');
});

test('its order is paid by the payment of its price, whatever that is in USDT', async () => {
  const order = await shop.order();
  const price = { amount: '12.50', currency: 'EUR' };
  expect(await shop.send(paidEvent(order, { expected_amount: '14.52', received_amount: '14.52', price }))).toBe(204);
  expect(await shop.shipped()).toEqual([order.order_id]);
});

test.each([
  [undefined, '12.50 USDT'],
  [{ amount: '12.50', currency: 'PLN' }, '12.50 PLN'],
  [{ amount: '12.49', currency: 'EUR' }, '12.49 EUR'],
])('a payment of the price %j ships nothing, and is noted', async (price, text) => {
  const order = await shop.order();
  expect(await shop.send(paidEvent(order, { payment_id: 'pay_2', price }))).toBe(204);
  expect(await shop.shipped()).toEqual([]);
  expect(await findOrder(shop.db, order.order_id)).toMatchObject({
    paid_at: null,
    notes: [`Payment pay_2 is for ${text}, the order costs 12.50 EUR.`],
  });
});
