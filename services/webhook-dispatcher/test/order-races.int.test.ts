import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import { transaction, type Transaction } from '@quittance/postgres/transaction.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { laneCircuitPolicy } from '../src/lanes/in-flight-limits.ts';
import { byMerchant } from '../src/endpoints/audit.sql.ts';
import { releaseDeliveries, type Claimed, settleAttempts, type Outcome } from '../src/lanes/claim.sql.ts';
import { insertEvents, insertNotices, type NewNotice } from '../src/events/event.sql.ts';
import { startCycle } from '../src/events/retry.sql.ts';
import { findDisorder } from './faults/invariants.ts';
import { failure, outcome, startStoreWorld, type StoreWorld } from './store-world.ts';

// A transaction that decides about a notice or stores PAID waits for concurrent ones, and sees their result.

let world: StoreWorld;
let merchantId: string;
let paymentId: string;
beforeAll(async () => {
  world = await startStoreWorld();
});
beforeEach(async () => {
  await world.empty();
  merchantId = await world.addMerchant();
  await world.pool.query(`update endpoint set events = '{PAID,EXPIRED}'`);
  paymentId = newId('pay');
});
afterEach(async () => expect(await findDisorder(world.pool)).toEqual([]));
afterAll(() => world.stop());

const superseded = { status: 'failed', error_category: 'superseded', leased: false, due_in: null };
const settle = (...outcomes: Outcome[]) => settleAttempts(world.pool, outcomes, laneCircuitPolicy);
const addNotice = () => world.addNotice(merchantId, { paymentId });
const claimOne = async (): Promise<Claimed> => (await world.claim())[0]!;
const notice = (): NewNotice => ({
  ...{ eventId: newId('evt'), merchantId, type: 'payment.expired', paymentId },
  ...{ occurrence: newId('evt'), body: Buffer.from('{}') },
});
const storePaid = (tx: Transaction) =>
  insertEvents(tx, [{ eventId: newId('evt'), merchantId, paymentId, body: Buffer.from('{}') }]);

/** Commits the first when the second waits for it. */
async function runInTurn(first: (tx: Transaction) => Promise<unknown>, second: () => Promise<unknown>) {
  let other: Promise<unknown> | undefined;
  await transaction(world.pool, async (tx) => {
    await first(tx);
    other = second();
    await eventually(async () => {
      const { rowCount } = await world.pool.query(`select from pg_locks where locktype = 'advisory' and not granted`);
      if (rowCount !== 1) throw new Error(`${rowCount} wait`);
    });
  });
  await other;
}

const inTransaction = (run: (tx: Transaction) => Promise<unknown>) => () => transaction(world.pool, run);
const onlyPaidIsSent = async () => {
  await world.pool.query(`update lane set next_due_at = now()`);
  const claimed = await world.claim();
  expect(claimed.map((c) => c.lane_id)).toEqual([merchantId]);
};
test('a notice and PAID are stored', async () => {
  await runInTurn((tx) => insertNotices(tx, [notice()]), inTransaction(storePaid));
  await onlyPaidIsSent();
  expect(await world.claim()).toEqual([]);
});

test('PAID and a notice are stored', async () => {
  await runInTurn(
    storePaid,
    inTransaction((tx) => insertNotices(tx, [notice()])),
  );
  await onlyPaidIsSent();
  expect(await world.claim()).toEqual([]);
});

test('PAID is stored and a failed notice is retried, or the other way round', async () => {
  for (const isPaidFirst of [true, false]) {
    paymentId = newId('pay');
    const failed = await addNotice();
    await settle(outcome(await claimOne(), { ...failure, retry_delay_seconds: null }));
    const again = (tx: Transaction) =>
      startCycle(tx, { eventId: failed, merchantId, author: byMerchant, action: 'event_retried' });
    if (isPaidFirst) await runInTurn(storePaid, inTransaction(again));
    else await runInTurn(again, inTransaction(storePaid));
    expect(await world.stateOf(failed)).toMatchObject(superseded);
    await onlyPaidIsSent();
  }
});

test('PAID is stored and a notice in flight fails, or is released', async () => {
  for (const end of [
    (claimed: Claimed) => settle(outcome(claimed, failure)),
    (claimed: Claimed) => releaseDeliveries(world.pool, [claimed], 0),
  ]) {
    paymentId = newId('pay');
    const eventId = await addNotice();
    const claimed = await claimOne();
    await runInTurn(storePaid, () => end(claimed));
    expect(await world.stateOf(eventId)).toMatchObject(superseded);
    await onlyPaidIsSent();
  }
});
