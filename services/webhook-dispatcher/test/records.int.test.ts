import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { schema } from '../src/migrations.ts';
import { createQueries } from '../src/events/reads.sql.ts';
import { byMerchant } from '../src/endpoints/audit.sql.ts';
import { startCycle } from '../src/events/retry.sql.ts';
import { settleAttempts } from '../src/lanes/claim.sql.ts';
import { failure, outcome, startStoreWorld, type StoreWorld } from './store-world.ts';

let world: StoreWorld;
beforeAll(async () => {
  world = await startStoreWorld();
});
beforeEach(() => world.empty());
afterAll(() => world.stop());

test('of a payment with 101 delivery records, 100 are listed: PAID first, although it is the oldest, and then the newest', async () => {
  const [merchantId, paymentId] = [await world.addMerchant(), newId('pay')];
  const paid = await world.addEvent(merchantId, paymentId);
  const notices: string[] = [];
  while (notices.length < 100)
    notices.push(await world.addNotice(merchantId, { paymentId, type: 'transfer.unmatched' }));
  const records = await createQueries(world.pool, schema).deliveriesOf(merchantId, paymentId);
  expect(records.map(({ event_id: id }) => id)).toEqual([paid, ...notices.slice(1).reverse()]);
  expect(records[0]).toMatchObject({ event_type: null, payment_id: paymentId });
});

test('a retry whose audit row cannot be written changes nothing; the next one that can be audited starts', async () => {
  const [merchantId, other] = [await world.addMerchant(), await world.addMerchant('other.io')];
  const eventId = await world.addEvent(merchantId);
  await world.addEvent(other);
  const attempts = (await world.claim()).map((claimed) => outcome(claimed, { ...failure, retry_delay_seconds: null }));
  const policy = { openAfter: 4, openAfterSeconds: 0, longestOpenSeconds: 60, recoveredAt: 8 };
  await settleAttempts(world.pool, attempts, policy);
  const everything = async () =>
    Promise.all(
      ['delivery', 'lane', 'event', 'attempt', 'audit'].map(
        async (table) =>
          (await world.pool.query<{ row: string }>(`select t::text as row from ${table} t order by 1`)).rows,
      ),
    );
  const before = await everything();
  const retry = () =>
    transaction(world.pool, (tx) =>
      startCycle(tx, { eventId, merchantId, author: byMerchant, action: 'event_retried' }),
    );
  await world.pool.query('alter table audit add constraint unwritable check (false) not valid');
  await expect(retry()).rejects.toThrow('unwritable');
  await world.pool.query('alter table audit drop constraint unwritable');
  expect(await everything()).toEqual(before);
  expect(await world.stateOf(eventId)).toMatchObject({ status: 'failed', attempts: 1 });
  expect(await retry()).toMatchObject({ outcome: 'started', delivery: { status: 'pending', attempts: 0 } });
});
