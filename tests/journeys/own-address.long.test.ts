import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parseAmount } from '@quittance/contracts/amount.ts';
import type { Payment, PaymentDetails } from '@quittance/contracts/api/payment.ts';
import { serviceNames } from '@quittance/contracts/service-name.ts';
import type { WebhookEvent } from '@quittance/contracts/webhook.ts';
import { ensureToken } from '@quittance/local-backends/token/token.ts';
import { payOnChain } from '@quittance/local-stack/stack/pay.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { inDatabase, withDatabase } from '../support/database.ts';
import { journeyStack, type JourneyStack } from '../support/journey-stack.ts';
import { LocalChain } from '../support/local-chain.ts';
import { Shop } from '../support/shop.ts';

/*
 * Payments that have an address of a pool for themselves, whose customers pay in parts. Whatever happens in between, the API, the event, the
 * page, the export and the report must agree in the end.
 */

/** A merchant may read 120 times a minute. */
const patience = { intervalMs: 600 };

let stack: JourneyStack;
let chain: LocalChain;

beforeAll(async () => {
  stack = await journeyStack({ sharesBroker: true });
  chain = new LocalChain(stack.file.chain.rpc_url);
});
afterAll(() => stack.close(), 180_000);

/** A shop with a pool of so many addresses. */
async function openShop(addresses = 1): Promise<Shop> {
  const shop = await Shop.open(stack);
  const body = { network: stack.file.chain.network, addresses: Array.from({ length: addresses }, newWallet) };
  expect((await shop.call('PUT', '/merchant/wallet-pools/shop', body)).status).toBe(200);
  return shop;
}

const order = (shop: Shop, body: object = {}) =>
  shop.order({ amount: '10.00', merchant_wallet: undefined, wallet_pool: 'shop', ...body });

async function ordered(shop: Shop, body: object = {}): Promise<Payment> {
  const answer = await order(shop, body);
  if (answer.status !== 201) throw new Error(`the creation answered ${answer.status} ${answer.text}`);
  return answer.body;
}

/** @returns the id of the transaction. */
const pay = async ({ merchant_wallet: wallet }: Payment, amount: string): Promise<string> =>
  (await payOnChain(stack.file.chain, wallet, amount)).transactionHash.slice(2);

const until = (shop: Shop, { payment_id: id }: Payment, expected: object): Promise<PaymentDetails> =>
  eventually(async () => {
    const details = await shop.details(id);
    expect(details).toMatchObject(expected);
    return details;
  }, patience);

const page = async ({ payment_url: url }: Payment): Promise<string> => (await fetch(`${url}?lang=en`)).text();
const textOf = (html: string): string => html.replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' ');

type Paid = { received: string; parts: [id: string, amount: string][]; accepted?: true };

/** Waits until the payment is PAID with these parts, in the order of the chain, and checks everything that anybody can see of it. */
async function expectPaid(shop: Shop, payment: Payment, { received, parts, accepted }: Paid): Promise<PaymentDetails> {
  const paid = await until(shop, payment, { status: 'PAID', received_amount: received, unmatched_transfers: [] });
  const shown = paid.transfers.map(({ transaction_id: id, amount, confirmed, counts }) => [
    id,
    amount,
    confirmed,
    counts,
  ]);
  expect(shown).toEqual(parts.map(([id, amount]) => [id, amount, true, true]));
  expect(paid.transaction).toMatchObject({ accepted: accepted ?? false, confirmations: expect.any(Number) });

  const events = await eventually(async () => {
    const all = (await shop.webhooks()).filter(({ body }) => body.payment_id === payment.payment_id);
    expect(all).not.toHaveLength(0);
    return all;
  }, patience);
  expect(new Set(events.map(({ body }) => body.event_id)).size).toBe(1);
  const { transfers, ...told }: WebhookEvent = events[0]!.body;
  expect(told).toMatchObject({
    ...{ status: 'PAID', expected_amount: payment.amount, received_amount: received },
    ...{ transaction_id: paid.transaction!.transaction_id, ...(accepted && { accepted }) },
  });
  expect(transfers!.map(({ transaction_id: id, amount }) => [id, amount])).toEqual(parts);

  const html = await page(payment);
  expect(html).toContain('data-state="paid"');
  if (parseAmount(received) !== parseAmount(payment.amount))
    expect(textOf(html)).toContain(`${received} of ${payment.amount} USDT`);
  await expectCounted(shop, paid);
  return paid;
}

/** The export has the payment as details show it, and the report has what arrived for all payments of the shop. */
async function expectCounted(shop: Shop, details: PaymentDetails): Promise<void> {
  const { unmatched_transfers: _, transfers: _parts, warnings: _none, ...payment } = details;
  const exported = (await shop.call('GET', '/payments/export?format=ndjson')).text.split('\n').slice(0, -2);
  const payments = exported.map((line) => JSON.parse(line) as Payment);
  expect(payments).toContainEqual({
    ...payment,
    transaction: { ...payment.transaction, confirmations: expect.any(Number) },
  });
  const paid = payments.filter(({ status }) => status === 'PAID');
  const sum = paid.reduce((total, one) => total + Number(one.received_amount), 0);
  const from = payments[0]!.created_at.slice(0, 10);
  const to = new Date(Date.now() + 60_000).toISOString().slice(0, 10);
  const report = await shop.call('GET', `/merchant/report?from=${from}&to=${to}&group=day`);
  expect(report.body).toMatchObject({ totals: { paid: paid.length, paid_amount: String(sum) } });
}

describe('a payment with an address of its own', () => {
  test('is paid in three parts', async () => {
    const shop = await openShop();
    const payment = await ordered(shop);
    expect(payment).toMatchObject({ status: 'PENDING', dedicated: true, received_amount: '0' });
    const parts: Paid['parts'] = [];
    for (const [amount, received, rest] of [
      ['2.5', '2.5', '7.5'],
      ['4', '6.5', '3.5'],
    ] as const) {
      parts.push([await pay(payment, amount), amount]);
      await until(shop, payment, { status: 'PENDING', received_amount: received, unmatched_transfers: [] });
      expect(textOf(await page(payment))).toContain(`Send the rest, ${rest} USDT`);
    }
    expect(await shop.webhooks()).toEqual([]);
    parts.push([await pay(payment, '3.5'), '3.5']);
    await expectPaid(shop, payment, { received: '10', parts });
  });

  test('is PAID with a little less, if its merchant accepts that from the start', async () => {
    const shop = await openShop();
    const payment = await ordered(shop, { accept_from_percent: 90 });
    const first = await pay(payment, '5.5');
    await until(shop, payment, { received_amount: '5.5' });
    const second = await pay(payment, '3.7');
    await expectPaid(shop, payment, {
      received: '9.2',
      parts: [
        [first, '5.5'],
        [second, '3.7'],
      ],
    });
  });

  test('is PAID with more', async () => {
    const shop = await openShop();
    const payment = await ordered(shop);
    const [first, second] = [await pay(payment, '9'), await pay(payment, '2.25')];
    await expectPaid(shop, payment, {
      received: '11.25',
      parts: [
        [first, '9'],
        [second, '2.25'],
      ],
    });
  });

  test('expires with a part, and is accepted by its merchant with the one that came too late', async () => {
    const shop = await openShop();
    const payment = await ordered(shop);
    const inTime = await pay(payment, '5');
    await until(shop, payment, { received_amount: '5' });
    // Its time is up now.
    const end = `update payments.payment set expires_at = now(), expiry_check_at = now() where payment_id = $1`;
    await inDatabase(stack.file, end, [payment.payment_id]);
    await until(shop, payment, { status: 'EXPIRED', unmatched_transfers: [{ reason: 'underpaid' }] });
    expect(textOf(await page(payment))).toContain('the shop can still accept the money');
    const late = await pay(payment, '4.5');
    const details = await until(shop, payment, { status: 'EXPIRED', received_amount: '9.5' });
    const reasons = details.unmatched_transfers.map(({ transaction_id: id, reason }) => [id, reason]);
    expect(reasons.toSorted()).toEqual(
      [
        [inTime, 'underpaid'],
        [late, 'late'],
      ].toSorted(),
    );
    const event = { transaction_id: late, transaction_event_index: 0 };
    const answer = await shop.call('POST', `/payments/${payment.payment_id}/accept-transfer`, event);
    expect([answer.status, answer.body]).toMatchObject([200, { status: 'PAID', received_amount: '9.5' }]);
    const parts: Paid['parts'] = [
      [inTime, '5'],
      [late, '4.5'],
    ];
    await expectPaid(shop, payment, { received: '9.5', parts, accepted: true });
  });

  test('waits again while a reorganisation has removed a part, and is PAID when the part is back', async () => {
    const shop = await openShop();
    const payment = await ordered(shop);
    const first = await pay(payment, '4');
    await until(shop, payment, { received_amount: '4' });
    const second = await chain.withMiningStopped(async () => {
      const id = await pay(payment, '6');
      await until(shop, payment, { status: 'CHECKING', received_amount: '4', transaction: { transaction_id: id } });
      const bringBack = await chain.dropLastTransaction(`0x${id}`);
      await until(shop, payment, { status: 'PENDING', received_amount: '4', transaction: null });
      expect((await shop.details(payment.payment_id)).transfers).toMatchObject([{ transaction_id: first }]);
      await eventually(async () => expect(textOf(await page(payment))).toContain('Send the rest, 6 USDT'), patience);
      await bringBack();
      await until(shop, payment, { status: 'CHECKING', transaction: { transaction_id: id } });
      return id;
    });
    await expectPaid(shop, payment, {
      received: '10',
      parts: [
        [first, '4'],
        [second, '6'],
      ],
    });
  });

  test('gets nothing of another customer of its pool, who pays the same amount at the same time', async () => {
    const shop = await openShop(2);
    const [one, other] = [await ordered(shop), await ordered(shop)];
    expect(one.merchant_wallet).not.toBe(other.merchant_wallet);
    // An exchange that sends to both in one transaction.
    const token = await ensureToken(stack.file.chain.rpc_url);
    const sent = await token.payBatch([
      { to: other.merchant_wallet, units: 7_000_000n },
      { to: one.merchant_wallet, units: 4_000_000n },
    ]);
    const [rest, otherRest] = [await pay(one, '6'), await pay(other, '3')];
    const both = sent.slice(2);
    await expectPaid(shop, other, {
      received: '10',
      parts: [
        [both, '7'],
        [otherRest, '3'],
      ],
    });
    await expectPaid(shop, one, {
      received: '10',
      parts: [
        [both, '4'],
        [rest, '6'],
      ],
    });
  });

  test('keeps its address until its rest is over: then the next one gets it, with its own money only', async () => {
    const shop = await openShop();
    const first = await ordered(shop);
    const only = await pay(first, '10');
    const paid = await expectPaid(shop, first, { received: '10', parts: [[only, '10']] });
    const refused = await order(shop);
    expect([refused.status, refused.body]).toMatchObject([409, { code: 'wallet_pool_exhausted' }]);
    // A day later.
    await withDatabase(stack.file.postgres_url, async (db) => {
      await db.query('set search_path = payments');
      await db.query(
        `update payment set status = status, created_at = created_at - interval '25 hours',
                expires_at = expires_at - interval '25 hours', paid_at = paid_at - interval '25 hours' where payment_id = $1`,
        [first.payment_id],
      );
    });
    const next = await ordered(shop, { amount: '12.00' });
    expect(next.merchant_wallet).toBe(first.merchant_wallet);
    const parts: Paid['parts'] = [];
    for (const amount of ['5', '7']) parts.push([await pay(next, amount), amount]);
    await expectPaid(shop, next, { received: '12', parts });
    expect(await shop.details(first.payment_id)).toMatchObject({ received_amount: '10', transfers: paid.transfers });
  });

  test('has to be accepted, if its merchant has ended the rest of the one before', async () => {
    const shop = await openShop();
    const first = await ordered(shop);
    expect((await shop.call('POST', `/payments/${first.payment_id}/cancel`)).status).toBe(200);
    expect((await order(shop)).status).toBe(409);
    expect((await shop.call('DELETE', `/merchant/wallet-rests/${first.merchant_wallet}`)).status).toBe(200);
    const next = await ordered(shop);
    expect(next.merchant_wallet).toBe(first.merchant_wallet);
    const id = await pay(next, '9.5');
    const unmatched = [{ transaction_id: id, reason: 'ambiguous', candidate_count: 2 }];
    for (const one of [first, next]) await until(shop, one, { received_amount: '0', unmatched_transfers: unmatched });
    const accept = (more: object) =>
      shop.call('POST', `/payments/${next.payment_id}/accept-transfer`, {
        ...{ transaction_id: id, transaction_event_index: 0, ...more },
      });
    expect((await accept({})).status).toBe(409);
    // Until it is confirmed, it cannot be accepted.
    await eventually(async () => expect((await accept({ confirm_candidates: 2 })).status).toBe(200), patience);
    await expectPaid(shop, next, { received: '9.5', parts: [[id, '9.5']], accepted: true });
  });

  test.each(serviceNames)('is PAID once, although %s is killed at every step', async (service) => {
    const shop = await openShop();
    const kill = () =>
      Promise.all(stack.services.filter(({ name }) => name === service).map((process) => process.kill()));
    const payment = await ordered(shop);
    await kill();
    const parts: Paid['parts'] = [[await pay(payment, '3'), '3']];
    await kill();
    await untilAnswered(() => until(shop, payment, { received_amount: '3' }));
    parts.push([await pay(payment, '3.000001'), '3.000001']);
    await kill();
    await untilAnswered(() => until(shop, payment, { received_amount: '6.000001' }));
    parts.push([await pay(payment, '4'), '4']);
    await kill();
    await untilAnswered(() => until(shop, payment, { status: 'PAID' }));
    await kill();
    await untilAnswered(() => expectPaid(shop, payment, { received: '10.000001', parts }));
  });
});

/** While a service is down, the API answers 503 or not at all. */
const untilAnswered = (look: () => Promise<unknown>): Promise<unknown> => eventually(look, patience);
