import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { laneCircuitPolicy } from '../src/lanes/in-flight-limits.ts';
import { createQueries } from '../src/events/reads.sql.ts';
import { schema } from '../src/migrations.ts';
import { byMerchant } from '../src/endpoints/audit.sql.ts';
import { releaseDeliveries, type Claimed, settleAttempts, type Outcome } from '../src/lanes/claim.sql.ts';
import type { NewNotice } from '../src/events/event.sql.ts';
import { startCycle } from '../src/events/retry.sql.ts';
import { failure, left, outcome, startStoreWorld, type StoreWorld } from './store-world.ts';
import { findDisorder } from './faults/invariants.ts';

let world: StoreWorld;
let merchantId: string;
let paymentId: string;
beforeAll(async () => {
  world = await startStoreWorld();
});
beforeEach(async () => {
  await world.empty();
  merchantId = await world.addMerchant();
  paymentId = newId('pay');
});
afterEach(async () => expect(await findDisorder(world.pool)).toEqual([]));
afterAll(() => world.stop());

const kinds = ['payment.checking', 'payment.expired', 'payment.cancelled'] as const;
const superseded = { status: 'failed', error_category: 'superseded', leased: false, due_in: null };

const addNotice = (over: Partial<NewNotice> = {}) => world.addNotice(merchantId, { paymentId, ...over });
const pay = () => world.addEvent(merchantId, paymentId);
const claimedIds = async () => (await world.claim()).map((claimed) => claimed.event_id);
const claimOne = async (): Promise<Claimed> => (await world.claim())[0]!;
/** As if the 45 seconds of all leases, and of deliveries that wait for them, had passed. */
const passLease = async (): Promise<void> => {
  await world.pool.query(`update delivery set next_attempt_at = now() where status = 'pending'`);
  await world.pool.query(
    `update lane set next_due_at = now(), open_until = case when open_until is not null then now() end`,
  );
};
const settle = (...outcomes: Outcome[]) => settleAttempts(world.pool, outcomes, laneCircuitPolicy);
const retry = (eventId: string, of: string | null = merchantId) =>
  transaction(world.pool, (tx) =>
    startCycle(tx, { eventId, merchantId: of, author: byMerchant, action: 'event_retried' }),
  );

describe('a notice that is not in flight', () => {
  test.each(kinds)('%s is withdrawn when the PAID event of its payment is stored', async (type) => {
    const notice = await addNotice({ type });
    const paid = await pay();
    expect(await world.stateOf(notice)).toEqual({ ...superseded, attempts: 0, interruptions: 0 });
    expect(await claimedIds()).toEqual([paid]);
    expect(await claimedIds()).toEqual([]);
  });

  test.each(kinds)('%s is stored as withdrawn if that event is already stored', async (type) => {
    const paid = await pay();
    const notice = await addNotice({ type });
    expect(await world.stateOf(notice)).toEqual({ ...superseded, attempts: 0, interruptions: 0 });
    expect(await claimedIds()).toEqual([paid]);
    expect(await claimedIds()).toEqual([]);
  });

  test('is withdrawn while it waits for its next attempt', async () => {
    const notice = await addNotice();
    await settle(outcome(await claimOne(), { ...failure, retry_delay_seconds: 3_600 }));
    const paid = await pay();
    expect(await world.stateOf(notice)).toMatchObject({ ...superseded, attempts: 1 });
    expect(await claimedIds()).toEqual([paid]);
  });

  test('is sent if it is about a transfer or another payment', async () => {
    const others = [await addNotice({ type: 'transfer.unmatched' }), await addNotice({ paymentId: newId('pay') })];
    const paid = await pay();
    expect(await claimedIds()).toEqual([paid]);
    expect((await claimedIds()).toSorted()).toEqual(others.toSorted());
  });
});

describe('a PAID event', () => {
  test('waits for a notice in flight until its lease ends, and for nothing else', async () => {
    const notice = await addNotice();
    expect(await claimedIds()).toEqual([notice]);
    const paid = await pay();
    expect(await world.stateOf(paid)).toMatchObject({ status: 'pending', leased: false, due_in: left(45) });
    const other = await world.addEvent(merchantId);
    expect(await claimedIds()).toEqual([other]);
    await passLease();
    expect((await claimedIds()).toSorted()).toEqual([other, paid].toSorted());
    expect(await claimedIds()).toEqual([]);
    expect(await world.stateOf(notice)).toEqual({ ...superseded, attempts: 0, interruptions: 1 });
  });

  test.each([
    ['was accepted', {}, { status: 'delivered', error_category: null, attempts: 1 }],
    ['failed, which is not tried again', failure, { ...superseded, attempts: 1 }],
    ['failed for the last time', { ...failure, retry_delay_seconds: null }, { ...superseded, attempts: 1 }],
  ] as const)('is due once the notice %s', async (_how, over, expected) => {
    const notice = await addNotice();
    const claimed = await claimOne();
    const paid = await pay();
    await settle(outcome(claimed, over));
    expect(await world.stateOf(notice)).toMatchObject(expected);
    expect(await claimedIds()).toEqual([paid]);
  });

  test('is due when the notice is released unsent, which is then withdrawn', async () => {
    const notice = await addNotice();
    const claimed = await world.claim();
    const paid = await pay();
    await releaseDeliveries(world.pool, claimed, 5);
    expect(await world.stateOf(notice)).toEqual({ ...superseded, attempts: 0, interruptions: 0 });
    expect(await claimedIds()).toEqual([paid]);
  });

  test('waits for the last one of several', async () => {
    await addNotice({ type: 'payment.checking' });
    await addNotice();
    const [first, second] = await world.claim();
    const paid = await pay();
    await settle(outcome(first!));
    expect(await claimedIds()).toEqual([]);
    expect(await world.stateOf(paid)).toMatchObject({ due_in: left(45) });
    await settle(outcome(second!));
    expect(await claimedIds()).toEqual([paid]);
  });

  test('does not wait for one whose lease has expired, and a late 2xx of it still counts', async () => {
    const notice = await addNotice();
    const claimed = await claimOne();
    await world.lapse();
    const paid = await pay();
    expect(await world.stateOf(notice)).toEqual({ ...superseded, attempts: 0, interruptions: 1 });
    expect(await claimedIds()).toEqual([paid]);
    await settle(outcome(claimed));
    expect(await world.stateOf(notice)).toMatchObject({ status: 'delivered', error_category: null });
    expect(await world.stateOf(paid)).toMatchObject({ leased: true });
  });

  test('leaves the probe of an open circuit to the next notice', async () => {
    const notice = await addNotice();
    await world.pool.query(
      `update lane set circuit_state = 'open', open_until = now(), times_opened = 1 where notices_of = $1`,
      [merchantId],
    );
    expect(await claimedIds()).toEqual([notice]);
    const paid = await pay();
    const next = await addNotice({ paymentId: newId('pay') });
    await passLease();
    await world.pool.query(`update delivery set next_attempt_at = now() - interval '1 second' where event_id = $1`, [
      notice,
    ]);
    expect(await claimedIds()).toEqual([paid]);
    // Immediately, because the claim says that there is more.
    const claim = await world.tryClaim();
    expect(claim).toMatchObject({ claimed: [], more: true });
    expect(await claimedIds()).toEqual([next]);
  });
});

describe('a retry of a notice that must not follow PAID', () => {
  const refused = { outcome: 'superseded' };

  test('is refused to merchants and operators, and for another merchant it does not exist', async () => {
    const notice = await addNotice();
    await pay();
    expect(await retry(notice)).toEqual(refused);
    expect(await retry(notice, null)).toEqual(refused);
    expect(await retry(notice, newId('mer'))).toEqual({ outcome: 'unknown_event' });
    expect(await world.stateOf(notice)).toMatchObject(superseded);
  });

  test('is also refused if it had failed before, or if an earlier release withdrew it', async () => {
    const notice = await addNotice();
    await settle(outcome(await claimOne(), { ...failure, retry_delay_seconds: null }));
    expect(await world.stateOf(notice)).toMatchObject({ error_category: 'http_5xx' });
    await pay();
    expect(await world.stateOf(notice)).toMatchObject({ ...superseded, attempts: 1 });
    expect(await retry(notice)).toEqual(refused);
    // As 0.2.0 leaves it.
    await world.pool.query(`update delivery set error_category = 'interrupted' where event_id = $1`, [notice]);
    expect(await retry(notice)).toEqual(refused);
    await world.pool.query(`update delivery set error_category = 'superseded' where event_id = $1`, [notice]);
  });

  test('is refused like that of any delivered event if it was delivered', async () => {
    const notice = await addNotice();
    await settle(outcome(await claimOne()));
    await pay();
    expect(await retry(notice)).toEqual({ outcome: 'refused' });
  });

  test('is not offered to operators', async () => {
    const [overtaken, other] = [await addNotice(), await world.addEvent(merchantId)];
    await pay();
    await world.pool.query(
      `update delivery set status = 'failed', next_attempt_at = null, error_category = 'http_5xx' where event_id = $1`,
      [other],
    );
    const queries = createQueries(world.pool, schema);
    for (const whose of [merchantId, null]) {
      const { events, total } = await queries.failedEvents({ merchantId: whose, after: null });
      expect([events.map((event) => event.event_id), total]).toEqual([[other], 1]);
    }
    expect(await world.stateOf(overtaken)).toMatchObject(superseded);
  });
});

test('a claim withdraws a notice that a process of the release before left pending', async () => {
  const notice = await addNotice();
  const next = await addNotice({ paymentId: newId('pay') });
  const paid = newId('evt');
  await world.pool.query(`insert into event (event_id, payment_id, merchant_id, body) values ($1, $2, $3, '')`, [
    ...[paid, paymentId, merchantId],
  ]);
  await world.pool.query(
    `insert into delivery (event_id, merchant_id, status, delivered_at) values ($1, $2, 'delivered', now())`,
    [paid, merchantId],
  );
  expect(await claimedIds()).toEqual([next]);
  expect(await world.stateOf(notice)).toMatchObject(superseded);
});
