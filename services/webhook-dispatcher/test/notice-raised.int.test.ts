import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import { NoticeRaised } from '@quittance/contracts/messages.ts';
import { webhookChoices } from '@quittance/contracts/webhook.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { type Merchant, startWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

async function merchantWith(events: readonly string[]): Promise<Merchant> {
  const merchant = await world.merchant();
  await world.call('PUT', `/merchants/${merchant.merchantId}/webhook`, { url: merchant.url, events });
  return merchant;
}

const raised = (merchant: Merchant, over: Partial<NoticeRaised> = {}): NoticeRaised => ({
  merchant_id: merchant.merchantId,
  event_type: 'payment.expired',
  payment_id: newId('pay'),
  expected_amount: '10.50',
  description: 'Two coffees ☕',
  transaction_id: null,
  transaction_event_index: null,
  ...over,
});
const transfer = { transaction_id: randomBytes(32).toString('hex'), transaction_event_index: 7 };
const raise = (notice: NoticeRaised) => world.publish(NoticeRaised, notice);
const bodiesAt = ({ host }: Merchant) => world.receiver.received(host).map(({ body }) => body.toString());
const untilBodies = (merchant: Merchant, count: number) =>
  eventually(() => {
    const bodies = bodiesAt(merchant);
    expect(bodies).toHaveLength(count);
    return bodies;
  });

test("a notice has the fields of a PAID event, its type, and the payment's optional fields", async () => {
  const merchant = await merchantWith(webhookChoices);
  const payment = newId('pay');
  await raise(
    raised(merchant, {
      event_type: 'payment.checking',
      payment_id: payment,
      ...transfer,
      order_id: 'A-7',
      metadata: { cart: '9' },
      requested_amount: '10.5',
    }),
  );
  const [body] = await untilBodies(merchant, 1);
  const { event_id: eventId } = JSON.parse(body!) as { event_id: string };
  expect(body).toBe(
    `{"event_id":"${eventId}","event_type":"payment.checking","payment_id":"${payment}","status":"CHECKING",` +
      `"expected_amount":"10.50","transaction_id":"${transfer.transaction_id}","transaction_event_index":7,` +
      '"description":"Two coffees ☕","order_id":"A-7","metadata":{"cart":"9"},"requested_amount":"10.5"}',
  );
  const { body: records } = await world.call('GET', `/merchants/${merchant.merchantId}/payments/${payment}/deliveries`);
  expect(records.deliveries).toMatchObject([
    { event_id: eventId, event_type: 'payment.checking', payment_id: payment },
  ]);
});

test('an unmatched transfer is reported with its known fields, and without a payment if it fits none', async () => {
  const merchant = await merchantWith(['TRANSFER_UNMATCHED']);
  const money = {
    amount: '9.9',
    reason: null,
    network: 'local',
    merchant_wallet: `0x${'aB'.repeat(20)}`,
    block_timestamp: '2026-03-14T09:30:00.000Z',
  };
  const unknown = { payment_id: null, expected_amount: null, description: null };
  await raise(raised(merchant, { event_type: 'transfer.unmatched', ...unknown, ...transfer, transfer: money }));
  const [body] = await untilBodies(merchant, 1);
  expect(JSON.parse(body!)).toEqual({
    event_id: expect.stringMatching(/^evt_/),
    event_type: 'transfer.unmatched',
    status: 'UNMATCHED',
    ...unknown,
    ...transfer,
    transfer: money,
  });
});

test('a transfer that may be for several payments names them after its other fields, and says if there are more', async () => {
  const merchant = await merchantWith(['TRANSFER_UNMATCHED']);
  const money = {
    amount: '10.50',
    reason: 'ambiguous',
    network: 'local',
    merchant_wallet: `0x${'aB'.repeat(20)}`,
    block_timestamp: '2026-03-14T09:30:00.000Z',
  } as const;
  const candidates = [newId('pay'), newId('pay')];
  const unknown = { payment_id: null, expected_amount: null, description: null };
  const ambiguous = { event_type: 'transfer.unmatched', ...unknown, transfer: money, candidates } as const;
  const one = { transaction_id: randomBytes(32).toString('hex'), transaction_event_index: 7 };
  const other = { ...one, transaction_event_index: 8 };
  await raise(raised(merchant, { ...ambiguous, ...one, candidates_elsewhere: true }));
  await raise(raised(merchant, { ...ambiguous, ...other, candidates: [], candidates_elsewhere: false }));
  const bodies = await untilBodies(merchant, 2);
  const behind = (index: number) =>
    bodies.find((body) => body.includes(`"transaction_event_index":${index},`))!.replace(/^.*("description":)/, '$1');
  const carried = `"description":null,"transfer":${JSON.stringify(money)}`;
  expect(behind(7)).toBe(`${carried},"candidates":${JSON.stringify(candidates)},"candidates_elsewhere":true}`);
  expect(behind(8)).toBe(`${carried},"candidates":[]}`);
});

test('an expired payment has the number of transfers that may be for it', async () => {
  const merchant = await merchantWith(['EXPIRED']);
  await raise(raised(merchant, { order_id: 'A-7', candidate_transfers: 2 }));
  const [body] = await untilBodies(merchant, 1);
  expect(body).toMatch(/"description":"[^"]*","order_id":"A-7","candidate_transfers":2}$/);
});

test('only one notice is sent about the end of a payment, a seen transfer or an unmatched one, even if it is raised again', async () => {
  const merchant = await merchantWith(webhookChoices);
  const [expired, checking] = [raised(merchant), raised(merchant, { event_type: 'payment.checking', ...transfer })];
  const moved = { ...checking, transaction_event_index: 8 };
  for (const notice of [expired, checking, expired, checking, moved]) await raise(notice);
  const bodies = await untilBodies(merchant, 3);
  await raise(raised(merchant));
  await untilBodies(merchant, 4);
  expect(bodies.map((body) => (JSON.parse(body) as { status: string }).status).toSorted()).toEqual([
    'CHECKING',
    'CHECKING',
    'EXPIRED',
  ]);
});

test('the stored choice decides, even if payments knew a different one', async () => {
  const merchant = await merchantWith(['PAID', 'CANCELLED']);
  await raise(raised(merchant));
  await raise(raised(merchant, { event_type: 'payment.cancelled' }));
  const [body] = await untilBodies(merchant, 1);
  expect(body).toContain('"status":"CANCELLED"');
  expect(bodiesAt(merchant)).toHaveLength(1);
});

test("a PAID event has its payment's optional fields after the fields that every event has", async () => {
  const merchant = await world.merchant();
  await world.pay(merchant, { order_id: 'A-7', metadata: { cart: '9' }, requested_amount: '10.5' });
  const [body] = await untilBodies(merchant, 1);
  expect(body).toMatch(
    /"status":"PAID",.*"description":"[^}]*","order_id":"A-7","metadata":{"cart":"9"},"requested_amount":"10.5"}$/,
  );
});

test("a PAID event of an accepted transfer says so, with the transfer's fields", async () => {
  const merchant = await world.merchant();
  const money = {
    amount: '9.9',
    reason: 'underpaid',
    network: 'local',
    merchant_wallet: `0x${'aB'.repeat(20)}`,
    block_timestamp: '2026-03-14T09:30:00.000Z',
  } as const;
  await world.pay(merchant, { order_id: 'A-7', accepted: true, transfer: money });
  const [body] = await untilBodies(merchant, 1);
  expect(body!.replace(/^.*("order_id")/, '$1')).toBe(
    `"order_id":"A-7","accepted":true,"transfer":${JSON.stringify(money)}}`,
  );
});
