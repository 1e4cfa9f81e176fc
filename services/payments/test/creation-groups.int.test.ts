import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Caller } from '@quittance/runtime/concurrency/caller.ts';
import { createCaller, withCaller } from '@quittance/runtime/concurrency/caller.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { createGroups } from '../src/creation/groups.ts';
import type { NewPayment } from '../src/store/new-payment.ts';
import { type CreationDatabase, creationDatabase, newCreation, newGate } from './creation-rows.ts';

let database: CreationDatabase;
beforeAll(async () => {
  database = await creationDatabase(5);
});
afterAll(() => database.close());

let woken = 0;
const messages = {
  sendCreatedAfterCommit: (tx: { afterCommit(hook: () => void): void }) => tx.afterCommit(() => (woken += 1)),
};

/** Decides them at the same moment. @returns the outcomes, in their order. */
async function together(creations: readonly NewPayment[], callers: readonly (Caller | null)[] = []) {
  const decide = createGroups({ pool: database.db, messages, logger: testLogger });
  const results = await Promise.all(
    creations.map((creation, position) => withCaller(callers[position] ?? null, () => decide(creation))),
  );
  return results.map((result) => result?.outcome ?? null);
}

/** How many of the payments are stored, with a reply and a message each, and by how many transactions. */
async function stored(creations: readonly NewPayment[]) {
  const { rows } = await database.db.query<{
    payments: number;
    replies: number;
    messages: number;
    transactions: number;
  }>(
    `select count(*)::int as payments, count(distinct p.xmin::text)::int as transactions,
            (select count(*)::int from idempotent_reply where merchant_id = any($2)) as replies,
            (select count(*)::int from outbox where merchant_id = any($2)) as messages
       from payment p where payment_id = any($1)`,
    [creations.map(({ payment }) => payment.payment_id), creations.map(({ payment }) => payment.merchant_id)],
  );
  return rows[0]!;
}

const newMerchants = (count: number): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, () => newGate(database.db)));

const waiting = (): Caller => createCaller(60_000, new AbortController().signal);

/** Whose time is over when the transaction looks for the last time, right before its commit. */
function leaving(): Caller {
  let asked = 0;
  return { ...waiting(), commitWithinMs: () => (asked++ < 3 ? 1_000 : -1) };
}

test('creations that wait at the same moment are written by one transaction, which wakes the relay once', async () => {
  const creations = (await newMerchants(8)).map((merchant) => newCreation(merchant));
  woken = 0;
  expect(await together(creations)).toEqual(creations.map(() => 'created'));
  expect(await stored(creations)).toEqual({ payments: 8, replies: 8, messages: 8, transactions: 1 });
  expect(woken).toBe(1);
});

test('a repetition and a refusal are decided beside what is created', async () => {
  const [one, other, third, poor] = [...(await newMerchants(3)), await newGate(database.db, undefined, 0)];
  const first = newCreation(one);
  expect(await together([first])).toEqual(['created']);
  const slot = newCreation(other!, { recipient: first.payment.recipient });
  const fresh = newCreation(third!);
  const again = { ...newCreation(one), idempotencyKey: first.idempotencyKey };
  expect(await together([again, slot, fresh, newCreation(poor!)])).toEqual([
    'replayed',
    'slot_taken',
    'created',
    'total_quota_exhausted',
  ]);
  expect(await stored([again, slot])).toMatchObject({ payments: 0 });
});

test('what is locked is left to be decided alone, and holds up nobody', async () => {
  const merchants = await newMerchants(3);
  const creations = merchants.map((merchant) => newCreation(merchant));
  const stranger = await database.db.connect();
  await stranger.query('begin');
  await stranger.query('select from gate where merchant_id = $1 for update', [merchants[1]]);
  expect(await together(creations)).toEqual(['created', null, 'created']);
  await stranger.query('rollback');
  stranger.release();
  expect(await stored([creations[1]!])).toMatchObject({ payments: 0, replies: 0, messages: 0 });
});

test('one merchant, and one wallet, is in a group once', async () => {
  const [one, other] = await newMerchants(2);
  const wallet = newCreation(one!).payment.recipient;
  const creations = [
    newCreation(one!),
    newCreation(one!),
    newCreation(other!, { recipient: wallet }),
    newCreation(other!, { recipient: wallet, amount_units: 2n }),
  ];
  expect(await together(creations)).toEqual(['created', null, 'created', null]);
});

test('an error that may be of one member stores nothing, and all are decided alone', async () => {
  const [one, other] = await newMerchants(2);
  const before = newCreation(one!);
  await together([before]);
  const broken = newCreation(one!, { payment_id: before.payment.payment_id });
  const sound = newCreation(other!);
  expect(await together([broken, sound])).toEqual([null, null]);
  expect(await stored([sound])).toMatchObject({ payments: 0, replies: 0, messages: 0 });
});

test('a member whose time is over before the commit is not stored, and the others are', async () => {
  const creations = (await newMerchants(3)).map((merchant) => newCreation(merchant));
  expect(await together(creations, [waiting(), leaving(), waiting()])).toEqual(['created', null, 'created']);
  expect(await stored(creations)).toMatchObject({ payments: 2, transactions: 1 });
});

test('a member whose caller has hung up is not stored, and the others are', async () => {
  const creations = (await newMerchants(2)).map((merchant) => newCreation(merchant));
  const gone = createCaller(60_000, AbortSignal.abort());
  expect(await together(creations, [gone, waiting()])).toEqual([null, 'created']);
  expect(await stored([creations[0]!])).toMatchObject({ payments: 0 });
});
