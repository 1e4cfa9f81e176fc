import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Caller } from '@quittance/runtime/concurrency/caller.ts';
import { CallerGone, createCaller, withCaller } from '@quittance/runtime/concurrency/caller.ts';
import { createTogether } from '../src/payment/create.ts';
import type { Creation } from '../src/payment/creation-rule.ts';
import {
  createdMessages,
  type CreationDatabase,
  creationDatabase,
  newCreation,
  newGate,
  rules,
} from './creation-rows.ts';

let database: CreationDatabase;
beforeAll(async () => {
  database = await creationDatabase(5);
});
afterAll(() => database.close());

const { counted, messages } = createdMessages();

/** Decides them in one transaction. @returns the outcomes, in their order. */
async function together(creations: readonly Creation[], caller: Caller | null = null) {
  const asked = creations.map((creation) => ({ creation, origin: {} }));
  const results = await withCaller(caller, () =>
    createTogether({ pool: database.db, rules, messages, rates: { maxAgeSeconds: 300, maxSpreadPercent: 1 } }, asked),
  );
  return results.map((result) => result?.outcome ?? null);
}

/** How many of the payments are stored, with a reply and a message each, and by how many transactions. */
async function stored(creations: readonly Creation[]) {
  const { rows } = await database.db.query<{
    payments: number;
    replies: number;
    messages: number;
    transactions: number;
  }>(
    `select count(*)::int as payments, count(distinct p.xmin::text)::int as transactions,
            (select count(*)::int from idempotent_reply where merchant_id = any($2)) as replies,
            (select count(*)::int from outbox where merchant_id = any($2)) as messages
       from payment p where recipient = any($1) and merchant_id = any($2)`,
    [creations.map(({ merchant_wallet: wallet }) => wallet), creations.map(({ merchant_id: merchant }) => merchant)],
  );
  return rows[0]!;
}

const newMerchants = (count: number): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, () => newGate(database.db)));

const waiting = (): Caller => createCaller(60_000, new AbortController().signal);

/** A caller whose deadline passes at the transaction's last check, right before its commit. */
function leaving(): Caller {
  let asked = 0;
  return { ...waiting(), commitWithinMs: () => (asked++ < 2 ? 1_000 : -1) };
}

test('creations that wait at the same moment are written by one transaction, which wakes the relay once', async () => {
  const creations = (await newMerchants(8)).map((merchant) => newCreation(merchant));
  counted.sent = 0;
  expect(await together(creations)).toEqual(creations.map(() => 'created'));
  expect(await stored(creations)).toEqual({ payments: 8, replies: 8, messages: 8, transactions: 1 });
  expect(counted.sent).toBe(1);
});

test('a replay and a refusal are decided together with what is created', async () => {
  const [one, other, third, fourth, poor] = [...(await newMerchants(4)), await newGate(database.db, undefined, 0)];
  const [first, second] = [newCreation(one), newCreation(fourth!)];
  expect(await together([first, second])).toEqual(['created', 'created']);
  const slot = newCreation(other!, { merchant_wallet: second.merchant_wallet });
  const fresh = newCreation(third!);
  expect(await together([first, slot, fresh, newCreation(poor!)])).toEqual([
    'replayed',
    'slot_taken',
    'created',
    'total_quota_exhausted',
  ]);
  expect(await stored([first])).toMatchObject({ payments: 1, replies: 1, messages: 1 });
  expect(await stored([slot])).toMatchObject({ payments: 0, replies: 0, messages: 0 });
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

test('each merchant, and each wallet, is in a group once', async () => {
  const [one, other] = await newMerchants(2);
  const wallet = newCreation(one!).merchant_wallet;
  const creations = [
    newCreation(one!),
    newCreation(one!),
    newCreation(other!, { merchant_wallet: wallet }),
    newCreation(other!, { merchant_wallet: wallet, amount: '2', amount_units: 2_000_000n }),
  ];
  expect(await together(creations)).toEqual(['created', null, 'created', null]);
});

test('without wallet binding, a pool gives no wallet that another creation of the group uses', async () => {
  const [one, other] = (await newMerchants(2)) as [string, string];
  const onWallet = newCreation(other);
  await database.db.query(
    `with source as (
       insert into address_source (merchant_id, network, kind, created_at) values ($1, $2, 'list', now()) returning source_id
     ), pool as (
       insert into wallet_pool (merchant_id, name, source_id, rest_seconds, created_at) select $1, 'shop', source_id, 3600, now() from source
     )
     insert into pool_address (source_id, address, place) select source_id, $3, 0 from source`,
    [one, onWallet.network, onWallet.merchant_wallet],
  );
  const fromPool = newCreation(one, { wallet_pool: 'shop', merchant_wallet: null, network: null });
  expect(await together([fromPool, onWallet])).toEqual([null, 'created']);
});

test('an error that may concern one creation stores nothing', async () => {
  const [one, other] = await newMerchants(2);
  const broken = newCreation(one!, { description: 'PostgreSQL keeps no \0' });
  const sound = newCreation(other!);
  await expect(together([broken, sound])).rejects.toThrow();
  expect(await stored([sound])).toMatchObject({ payments: 0, replies: 0, messages: 0 });
});

test('nothing is stored for a caller whose deadline passes before the commit', async () => {
  const creations = (await newMerchants(3)).map((merchant) => newCreation(merchant));
  await expect(together(creations, leaving())).rejects.toThrow(CallerGone);
  expect(await stored(creations)).toMatchObject({ payments: 0 });
});
