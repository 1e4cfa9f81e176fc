import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { FoundTransfer, Payment, UnmatchedTransfer } from '@quittance/sdk';
import { storePayment, type Order } from '../src/orders.ts';
import { adminPassword, openShop, type OpenShop } from './open-shop.ts';

const transaction_id = 'ab'.repeat(32);

/** The answers of a replacement for Quittance, and the acceptances it received. */
const says = {
  transfers: [] as UnmatchedTransfer[],
  found: [] as Partial<FoundTransfer>[],
  accepted: [] as object[],
};
const payments = new Map<string, object>();

let quittance: Server;
let shop: OpenShop;
beforeAll(async () => {
  quittance = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { pathname } = new URL(request.url ?? '/', 'http://quittance');
      const [, id = '', what = ''] = /^\/api\/v1\/payments\/(pay_\w+)\/([\w-]+)$/.exec(pathname) ?? [];
      if (what === 'accept-transfer') says.accepted.push(JSON.parse(Buffer.concat(chunks).toString()) as object);
      const status = what === 'accept-transfer' ? 'PAID' : 'EXPIRED';
      const answer =
        pathname === '/api/v1/merchant/transfers'
          ? { transfers: says.found, explanation: '', explanation_code: 'unmatched' }
          : what === ''
            ? { payments: [] }
            : { ...payments.get(id), status, unmatched_transfers: says.transfers, warnings: [] };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
  }).listen(0, '127.0.0.1');
  await once(quittance, 'listening');
  shop = await openShop(`http://127.0.0.1:${(quittance.address() as AddressInfo).port}`);
});
afterAll(async () => {
  await shop.close();
  quittance.closeAllConnections();
  quittance.close();
});
beforeEach(() => {
  Object.assign(says, { transfers: [], found: [], accepted: [] });
});

const headers = { Authorization: `Basic ${Buffer.from(`olga:${adminPassword}`).toString('base64')}` };

/** An order with a payment that has ended. */
async function order(): Promise<Order & { payment_id: string }> {
  const made = await shop.order();
  const payment_id = `pay_${made.order_id.replaceAll('-', '')}`;
  const payment = { payment_id, order_id: made.order_id, status: 'EXPIRED', amount: '12.50', transaction: null };
  const own = { dedicated: true, received_amount: '12.5', merchant_wallet: `0x${'1'.repeat(40)}` };
  const rest = {
    ...own,
    payment_url: 'http://127.0.0.1:1/pay/x',
    created_at: new Date().toISOString(),
    reference: 'K7QMX2RD',
  };
  payments.set(payment_id, { ...payment, ...rest });
  await storePayment(shop.db, { ...payment, ...rest } as unknown as Payment);
  return { ...made, payment_id };
}

const arrived = (reason: UnmatchedTransfer['reason'], candidate_count = 1): UnmatchedTransfer => ({
  ...{ transaction_id, transaction_event_index: 3, amount: '12.5', reason, candidate_count },
  block_timestamp: '2026-03-14T09:57:11.000Z',
});

async function pageOf({ order_id }: Order): Promise<string> {
  const answer = await fetch(`${shop.url}/admin/orders/${order_id}`, { headers });
  return (await answer.text()).replace(/\s+/g, ' ');
}

const accept = (
  { order_id, payment_id }: { order_id: string; payment_id: string },
  more: Record<string, string> = {},
) =>
  fetch(`${shop.url}/admin/orders/${order_id}/accept`, {
    ...{ method: 'POST', headers, redirect: 'manual' as const },
    body: new URLSearchParams({ payment_id, transaction_id, transaction_event_index: '3', ...more }),
  });

test.each(['underpaid', 'overpaid', 'late', 'after_cancel', 'duplicate'] as const)(
  'one that can only be for this order is accepted by a click: %s',
  async (reason) => {
    const bought = await order();
    says.transfers = [arrived(reason)];
    const page = await pageOf(bought);
    expect(page).toContain('Accept 12.5 USDT');
    expect(page).not.toContain('type="checkbox"');
    expect((await accept(bought)).status).toBe(303);
    expect(says.accepted).toEqual([{ transaction_id, transaction_event_index: 3 }]);
    expect(await shop.shipped()).toContain(bought.order_id);
  },
);

test('parts that came late are accepted together, whichever is clicked', async () => {
  const bought = await order();
  payments.set(bought.payment_id, { ...payments.get(bought.payment_id), received_amount: '11.75' });
  says.transfers = [
    { ...arrived('late'), amount: '3.75', transaction_event_index: 4 },
    { ...arrived('underpaid'), amount: '8' },
  ];
  const page = await pageOf(bought);
  expect(page).toContain('8 USDT arrived: too little');
  expect(page.match(/<button>Accept [^<]+/g)).toEqual(['<button>Accept 11.75 USDT', '<button>Accept 11.75 USDT']);
  expect((await accept(bought)).status).toBe(303);
  expect(says.accepted).toEqual([{ transaction_id, transaction_event_index: 3 }]);
});

test.each([
  ['ambiguous', 2],
  ['underpaid', 3],
  ['ambiguous', 1],
] as const)('one that may be for another order is accepted once a person confirms: %s, %i', async (reason, count) => {
  const [bought, other] = [await order(), await order()];
  says.transfers = [arrived(reason, count)];
  const candidates = [bought.payment_id, other.payment_id];
  says.found = [{ transaction_event_index: 3, candidates, candidates_elsewhere: false }];
  const page = await pageOf(bought);
  expect(page).toContain(`It may be for ${count} payments`);
  expect(page.includes(`<a href="/admin/orders/${other.order_id}">order ${other.number}</a>`)).toBe(count > 1);
  expect(page).toContain(`name="confirmed" value="${count}" required`);

  for (const confirmed of [{}, { confirmed: String(count + 1) }] as Record<string, string>[]) {
    const refused = await accept(bought, confirmed);
    expect([refused.status, await refused.text()]).toEqual([409, expect.stringContaining('Ask the customers')]);
  }
  expect(says.accepted).toEqual([]);
  expect((await accept(bought, { confirmed: String(count) })).status).toBe(303);
  expect(says.accepted).toEqual([{ transaction_id, transaction_event_index: 3, confirm_candidates: count }]);
});

test('one that paid another order is shown, and neither offered nor accepted', async () => {
  const bought = await order();
  says.transfers = [arrived('paid_another')];
  const page = await pageOf(bought);
  expect(page).toContain('it paid another order');
  expect(page).not.toContain('<button>Accept');
  for (const confirmed of ['', '1', '2']) expect((await accept(bought, { confirmed })).status).toBe(409);
  expect(says.accepted).toEqual([]);
});

test('one that may be for another merchant’s payment is for the operator', async () => {
  const bought = await order();
  says.transfers = [arrived('ambiguous', 2)];
  says.found = [{ transaction_event_index: 3, candidates: [bought.payment_id], candidates_elsewhere: true }];
  const page = await pageOf(bought);
  expect(page).toContain('Only the operator of Quittance can accept it');
  expect(page).not.toContain('<button>Accept');
});

test('one that is not listed at this order is not accepted, whatever the form says', async () => {
  const bought = await order();
  expect((await accept(bought, { confirmed: '1' })).status).toBe(409);
  says.transfers = [{ ...arrived('underpaid'), transaction_event_index: 4 }];
  expect((await accept(bought)).status).toBe(409);
  expect(says.accepted).toEqual([]);
});

test('a paid order accepts nothing more', async () => {
  const bought = await order();
  says.transfers = [arrived('late')];
  expect((await accept(bought)).status).toBe(303);
  expect((await accept(bought)).status).toBe(409);
  expect(says.accepted).toHaveLength(1);
});
