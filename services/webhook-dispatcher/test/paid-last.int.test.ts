import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import { NoticeRaised } from '@quittance/contracts/messages.ts';
import { type DeliveryRecord, type NoticeType, webhookChoices } from '@quittance/contracts/webhook.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { createGate } from './faults/visits.ts';
import { status } from './receiver.ts';
import { type Merchant, startWorld, type World } from './world.ts';

/** No notice starts after the PAID event of its payment: with a real dispatcher, broker, database and receivers. */

let world: World;
beforeAll(async () => {
  world = await startWorld({ retryDelaysSeconds: '0,0,0' });
});
afterAll(() => world.stop());

async function merchantWithAll(): Promise<Merchant> {
  const merchant = await world.merchant();
  await world.call('PUT', `/merchants/${merchant.merchantId}/webhook`, { url: merchant.url, events: webhookChoices });
  return merchant;
}

/** Of an expired payment, or of one that got a transfer. */
const raise = (merchant: Merchant, paymentId: string, type: NoticeType = 'payment.expired') => {
  const isOfTransfer = type === 'payment.checking' || type === 'transfer.unmatched';
  return world.publish(NoticeRaised, {
    merchant_id: merchant.merchantId,
    event_type: type,
    payment_id: paymentId,
    expected_amount: '10.50',
    description: 'Tea',
    transaction_id: isOfTransfer ? randomBytes(32).toString('hex') : null,
    transaction_event_index: isOfTransfer ? 0 : null,
    ...(type === 'transfer.unmatched' && {
      transfer: {
        amount: '9.9',
        reason: 'underpaid',
        network: 'local',
        merchant_wallet: `0x${'aB'.repeat(20)}`,
        block_timestamp: '2026-03-14T09:30:00.000Z',
      },
    }),
  });
};
const pay = (merchant: Merchant, paymentId: string) => world.pay(merchant, { payment_id: paymentId });

/** The outcome of a payment's events, in order. */
const arrived = ({ host }: Merchant, paymentId: string): string[] =>
  world.receiver
    .received(host)
    .map(({ body }) => JSON.parse(body.toString()) as { payment_id: string; status: string })
    .filter(({ payment_id: id }) => id === paymentId)
    .map((event) => event.status);
const untilArrived = (merchant: Merchant, paymentId: string, expected: readonly string[]) =>
  eventually(() => expect(arrived(merchant, paymentId)).toEqual(expected));

/** PAID first, then the newest. */
async function records({ merchantId }: Merchant, paymentId: string): Promise<DeliveryRecord[]> {
  return (await world.call('GET', `/merchants/${merchantId}/payments/${paymentId}/deliveries`)).body.deliveries;
}
const untilStored = (merchant: Merchant, paymentId: string, count: number) =>
  eventually(async () => {
    const stored = await records(merchant, paymentId);
    expect(stored).toHaveLength(count);
    return stored;
  });
/** Everything that was due before has started when a notice that is raised now has arrived. */
async function flush(merchant: Merchant): Promise<void> {
  const paymentId = newId('pay');
  await pay(merchant, paymentId);
  await untilArrived(merchant, paymentId, ['PAID']);
  const another = newId('pay');
  await raise(merchant, another);
  await untilArrived(merchant, another, ['EXPIRED']);
}

const superseded = { status: 'failed', error_category: 'superseded', next_attempt_at: null };

test.each([
  ['refused, and is not sent again', 500, superseded],
  ['accepted', 200, { status: 'delivered', error_category: null }],
])('PAID waits for a notice in flight, which is then %s', async (_how, code, expected) => {
  const merchant = await merchantWithAll();
  const paymentId = newId('pay');
  const gate = createGate();
  world.receiver.answer(merchant.host, gate.hold, status(200));
  await raise(merchant, paymentId);
  await eventually(() => expect(gate.held()).toBe(1));
  await pay(merchant, paymentId);
  const [paid] = await untilStored(merchant, paymentId, 2);
  expect(paid).toMatchObject({ event_type: null, status: 'pending', attempts: 0 });
  // PAID events of other payments do not wait.
  const another = newId('pay');
  await pay(merchant, another);
  await untilArrived(merchant, another, ['PAID']);
  expect(arrived(merchant, paymentId)).toEqual(['EXPIRED']);
  gate.letGo(status(code));
  await untilArrived(merchant, paymentId, ['EXPIRED', 'PAID']);
  await flush(merchant);
  expect(arrived(merchant, paymentId)).toEqual(['EXPIRED', 'PAID']);
  expect((await records(merchant, paymentId))[1]).toMatchObject({ ...expected, attempts: 1 });
});

test('notices that are not in flight are withdrawn when PAID is stored, and notices about transfers are sent', async () => {
  const merchant = await merchantWithAll();
  const paymentId = newId('pay');
  // While the account is blocked, nothing starts.
  await world.setStatus(merchant.merchantId, 'blocked', 1);
  await eventually(async () => {
    const { rows } = await world.pool.query(`select from lane where held and notices_of = $1`, [merchant.merchantId]);
    expect(rows).toHaveLength(1);
  });
  for (const type of ['payment.checking', 'payment.expired', 'payment.cancelled', 'transfer.unmatched'] as const) {
    await raise(merchant, paymentId, type);
  }
  await untilStored(merchant, paymentId, 4);
  await pay(merchant, paymentId);
  await untilStored(merchant, paymentId, 5);
  await world.setStatus(merchant.merchantId, 'active', 2);
  await untilArrived(merchant, paymentId, ['PAID', 'UNMATCHED']);
  await flush(merchant);
  expect(arrived(merchant, paymentId)).toEqual(['PAID', 'UNMATCHED']);
  const notices = (await records(merchant, paymentId)).filter(({ event_type: type }) => type?.startsWith('payment.'));
  expect(notices).toHaveLength(3);
  for (const notice of notices) expect(notice).toMatchObject({ ...superseded, attempts: 0, last_attempt_at: null });
});

test.each(['payment.checking', 'payment.expired', 'payment.cancelled'] as const)(
  '%s is not sent when it is heard of after PAID, and neither the merchant nor an operator can have it sent',
  async (type) => {
    const merchant = await merchantWithAll();
    const paymentId = newId('pay');
    await pay(merchant, paymentId);
    await untilArrived(merchant, paymentId, ['PAID']);
    await raise(merchant, paymentId, type);
    const [, notice] = await untilStored(merchant, paymentId, 2);
    await flush(merchant);
    expect(arrived(merchant, paymentId)).toEqual(['PAID']);
    const event = `/events/${notice!.event_id}`;
    const calls = [
      world.call('POST', `/merchants/${merchant.merchantId}${event}/retry`),
      world.call('POST', `${event}/recover`, { actor: 'anna', reason: 'the receiver is back' }),
    ];
    for (const { status: code, body } of await Promise.all(calls)) {
      expect([code, body]).toEqual([409, expect.objectContaining({ code: 'event_not_retryable' })]);
    }
    await flush(merchant);
    expect(arrived(merchant, paymentId)).toEqual(['PAID']);
    expect((await records(merchant, paymentId))[1]).toMatchObject({ ...superseded, event_type: type, attempts: 0 });
  },
);
