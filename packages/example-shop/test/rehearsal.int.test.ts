import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { PAYMENTS_NEEDED, rehearse } from '../../sdk/src/rehearse/rehearse.ts';
import { keys, openShop, type OpenShop } from './open-shop.ts';

let shop: OpenShop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

test('its webhook endpoint has no fault in the rehearsal', async () => {
  const orders = await Promise.all(Array.from({ length: PAYMENTS_NEEDED }, () => shop.order()));
  const report = await rehearse({
    url: `${shop.url}/webhook`,
    keys: [keys[0]!, keys[1]!],
    payments: orders.map(({ order_id }) => ({
      payment_id: `pay_${randomUUID().replaceAll('-', '')}`,
      ...{ order_id, expected_amount: '12.50', description: 'Tea bowl' },
    })),
    effects: async () => Object.fromEntries((await shop.shipped()).map((orderId) => [orderId, 1])),
    timeoutMs: 60_000,
    effectsWaitMs: 60_000,
  });
  expect(report.checks.filter(({ result }) => result !== 'ok')).toEqual([]);
  expect(report.ok).toBe(true);
});
