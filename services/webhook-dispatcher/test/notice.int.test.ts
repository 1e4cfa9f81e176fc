import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { laneCircuitPolicy } from '../src/lanes/in-flight-limits.ts';
import { createQueries } from '../src/events/reads.sql.ts';
import { schema } from '../src/migrations.ts';
import { holdLane, noticeLaneOf } from '../src/lanes/lane.sql.ts';
import { insertNotices } from '../src/events/event.sql.ts';
import { settleAttempts } from '../src/lanes/claim.sql.ts';
import { failure, outcome, startStoreWorld, type StoreWorld } from './store-world.ts';

let world: StoreWorld;
beforeAll(async () => {
  world = await startStoreWorld();
});
beforeEach(() => world.empty());
afterAll(() => world.stop());

const claimedIds = async (...args: Parameters<StoreWorld['claim']>) =>
  (await world.claim(...args)).map((claimed) => claimed.event_id);
const laneOf = async (merchantId: string) => {
  const { rows } = await world.pool.query<{ pace: string; circuit_state: string }>(
    `select pace, circuit_state from lane where merchant_id = $1`,
    [noticeLaneOf(merchantId)],
  );
  return rows[0];
};

describe('a notice', () => {
  test('is stored for merchants that subscribe to its type when it arrives, and for no others', async () => {
    const [chose, didNot, unknown] = [await world.addMerchant(), await world.addMerchant(), newId('mer')];
    await world.pool.query(`update endpoint set events = '{PAID,EXPIRED}' where merchant_id = $1`, [chose]);
    const notices = [chose, didNot, unknown].flatMap((merchantId) =>
      (['payment.expired', 'payment.cancelled'] as const).map((type) => {
        const [eventId, paymentId] = [newId('evt'), newId('pay')];
        return { eventId, merchantId, type, paymentId, occurrence: eventId, body: Buffer.from('{}') };
      }),
    );
    expect(await transaction(world.pool, (tx) => insertNotices(tx, notices))).toBe(true);
    expect(await claimedIds()).toEqual([notices[0]?.eventId]);
  });

  test('about the same thing is stored once, also if a batch has two', async () => {
    const merchantId = await world.addMerchant();
    const first = await world.addNotice(merchantId, { occurrence: 'the same' });
    await world.addNotice(merchantId, { occurrence: 'the same' });
    expect(await claimedIds()).toEqual([first]);
  });

  test('of a blocked account is held from the start, and sent after unblocking', async () => {
    const merchantId = await world.addMerchant();
    const hold = (held: boolean, statusVersion: number) =>
      transaction(world.pool, (tx) => holdLane(tx, { merchantId, held, statusVersion }));
    await hold(true, 1);
    const eventId = await world.addNotice(merchantId);
    expect(await claimedIds()).toEqual([]);
    await hold(false, 2);
    expect(await claimedIds()).toEqual([eventId]);
  });

  test('starts with the pace of its merchant', async () => {
    const merchantId = await world.addMerchant('slow.io', 'slow');
    await world.addNotice(merchantId);
    expect(await laneOf(merchantId)).toMatchObject({ pace: 'slow' });
  });
});

describe('PAID events', () => {
  test('go first: notices of the same merchant wait while one is due, and notices of others do not', async () => {
    const [merchantId, other] = [await world.addMerchant('a.io'), await world.addMerchant('b.io')];
    const notice = await world.addNotice(merchantId);
    const paid = await world.addEvent(merchantId);
    const others = await world.addNotice(other);
    expect((await claimedIds()).toSorted()).toEqual([paid, others].toSorted());
    expect(await claimedIds()).toEqual([notice]);
  });

  test("that cannot be sent now delay their merchant's notices, so that a claim does not visit them again", async () => {
    const merchantId = await world.addMerchant('a.io');
    await world.addNotice(merchantId);
    await world.addEvent(merchantId);
    await world.pool.query(`update lane set next_due_at = now() - interval '2 seconds' where notices_of is not null`);
    await world.pool.query(`update lane set next_due_at = now() + interval '1 minute' where notices_of is null`);
    expect(await claimedIds()).toEqual([]);
    const { rows } = await world.pool.query<{ put_off: boolean }>(
      `select next_due_at between now() and now() + interval '1 second' as put_off from lane where notices_of is not null`,
    );
    expect(rows).toEqual([{ put_off: true }]);
  });

  test('find free places with any notices in flight, because notices have half as many places', async () => {
    const merchantId = await world.addMerchant();
    for (let n = 0; n < 8; n += 1) await world.addNotice(merchantId);
    expect(await claimedIds()).toHaveLength(4);
    for (let n = 0; n < 8; n += 1) await world.addEvent(merchantId);
    expect(await claimedIds({ inFlight: { [noticeLaneOf(merchantId)]: 4 } })).toHaveLength(8);
  });

  test('keep their circuit closed when the receiver refuses notices', async () => {
    const merchantId = await world.addMerchant();
    for (let n = 0; n < 4; n += 1) await world.addNotice(merchantId);
    const outcomes = (await world.claim()).map((claimed) => outcome(claimed, failure));
    const policy = { ...laneCircuitPolicy, openAfter: 4, openAfterSeconds: 0 };
    for (const one of outcomes) await settleAttempts(world.pool, [one], policy);
    expect(await laneOf(merchantId)).toMatchObject({ circuit_state: 'open' });
    const paid = await world.addEvent(merchantId);
    expect(await claimedIds()).toEqual([paid]);
  });

  test('are stored for any choice of events: a process of an earlier release accepts one without PAID', async () => {
    const merchantId = await world.addMerchant();
    await world.pool.query(`update endpoint set events = '{EXPIRED}' where merchant_id = $1`, [merchantId]);
    const paid = await world.addEvent(merchantId);
    expect(await claimedIds()).toEqual([paid]);
  });
});

test('a payment’s records are its PAID event, then the others, newest first', async () => {
  const [merchantId, paymentId] = [await world.addMerchant(), newId('pay')];
  const first = await world.addNotice(merchantId, { type: 'payment.checking', paymentId });
  const paid = await world.addEvent(merchantId, paymentId);
  const last = await world.addNotice(merchantId, { type: 'transfer.unmatched', paymentId });
  await world.addNotice(merchantId, { type: 'transfer.unmatched', paymentId: null });
  const queries = createQueries(world.pool, schema);
  expect(await queries.deliveriesOf(merchantId, paymentId)).toMatchObject([
    { event_id: paid, payment_id: paymentId, event_type: null },
    { event_id: last, payment_id: paymentId, event_type: 'transfer.unmatched' },
    { event_id: first, payment_id: paymentId, event_type: 'payment.checking' },
  ]);
  expect(await queries.deliveriesOf(newId('mer'), paymentId)).toEqual([]);
});
