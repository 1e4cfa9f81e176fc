import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import { createQueries } from '../src/events/reads.sql.ts';
import { schema } from '../src/migrations.ts';
import { findDisorder } from './faults/invariants.ts';
import { startStoreWorld, type StoreWorld } from './store-world.ts';

let world: StoreWorld;
beforeAll(async () => {
  world = await startStoreWorld();
});
afterAll(() => world.stop());

/** As 0.2.0 stores it: without effect on notices of the payment. */
async function addPaid(merchantId: string, paymentId: string): Promise<void> {
  const eventId = newId('evt');
  await world.pool.query(`insert into event (event_id, payment_id, merchant_id, body) values ($1, $2, $3, '')`, [
    ...[eventId, paymentId, merchantId],
  ]);
  await world.pool.query(
    `insert into delivery (event_id, merchant_id, status, delivered_at) values ($1, $2, 'delivered', now())`,
    [eventId, merchantId],
  );
}

test('the upgrade withdraws pending notices that must not follow a stored PAID event, and nothing else', async () => {
  const merchantId = await world.addMerchant();
  const paymentId = newId('pay');
  const add = (of: string, type: 'payment.checking' | 'payment.expired' | 'transfer.unmatched' = 'payment.expired') =>
    world.addNotice(merchantId, { paymentId: of, type });
  const withdrawn = await add(paymentId);
  const retrying = await add(paymentId, 'payment.checking');
  const delivered = await add(paymentId, 'payment.checking');
  const others = [await add(paymentId, 'transfer.unmatched'), await add(newId('pay'))];
  const failedOther = await add(newId('pay'));
  const set = (eventId: string, values: string) =>
    world.pool.query(`update delivery set ${values} where event_id = $1`, [eventId]);
  await set(withdrawn, `status = 'failed', next_attempt_at = null, error_category = 'interrupted'`);
  await set(retrying, `attempts = 3, next_attempt_at = now() + interval '1 hour', error_category = 'http_5xx'`);
  await set(delivered, `status = 'delivered', attempts = 1, next_attempt_at = null, delivered_at = now()`);
  await set(failedOther, `status = 'failed', next_attempt_at = null, error_category = 'http_5xx'`);
  await addPaid(merchantId, paymentId);

  await world.pool.query(await readFile(new URL('../migrations/0009_superseded.sql', import.meta.url), 'utf8'));
  const superseded = { status: 'failed', error_category: 'superseded', due_in: null };
  expect(await world.stateOf(withdrawn)).toMatchObject({ ...superseded, attempts: 0 });
  expect(await world.stateOf(retrying)).toMatchObject({ ...superseded, attempts: 3 });
  expect(await world.stateOf(delivered)).toMatchObject({ status: 'delivered', error_category: null });
  expect((await world.claim()).map((claimed) => claimed.event_id).toSorted()).toEqual(others.toSorted());
  expect(await findDisorder(world.pool)).toEqual([]);
  const { events } = await createQueries(world.pool, schema).failedEvents({ merchantId, after: null });
  expect(events.map((event) => event.event_id)).toEqual([failedOther]);
});
