import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { create, newMerchant, newPayment, newWallet } from './fixtures.ts';
import { newAccount, poolsOf } from './pool-fixtures.ts';
import { network, type PaymentsUnderTest, startPayments } from './service.ts';

let payments: PaymentsUnderTest;
beforeAll(async () => {
  payments = await startPayments({
    replicas: 2,
    settings: { WALLET_POOL_ENCRYPTION_KEY: randomBytes(32).toString('base64') },
  });
});
afterAll(() => payments.close());

const newPools = async () => poolsOf(payments, await newMerchant(payments));
const wallets = (count: number) => Array.from({ length: count }, newWallet);
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown as string;
const asList = { network, kind: 'list', next_index: null, refused: [], created_at: time };
const asKey = { network, kind: 'xpub', size: null, free: null, refused: [], created_at: time };
/** Both rows of a table in order, for what a merchant does not see. */
const placesOf = async (db: Queryable, name: string) => {
  const { rows } = await db.query<{ address: string; place: number; free_at: Date | number }>(
    `select address, place, free_at from pool_address join wallet_pool using (source_id) where name = $1 order by place`,
    [name],
  );
  return rows;
};

describe('a pool of a list', () => {
  test('shows its size, how many addresses are free, and the first three in their order', async () => {
    const pools = await newPools();
    const addresses = wallets(4);
    const shown = { name: 'shop', ...asList, rest_seconds: 86_400, size: 4, free: 4 };
    const pool = { ...shown, first_addresses: addresses.slice(0, 3) };
    expect(await pools.putList('shop', addresses)).toMatchObject({ status: 200, json: pool });
    expect((await pools.read('shop')).json).toEqual(pool);
    const other = await pools.putList('a-second', addresses.slice(0, 1), { rest_seconds: 3600 });
    expect(other.json).toMatchObject({ name: 'a-second', size: 1, rest_seconds: 3600 });
    expect((await pools.list()).map(({ name }) => name)).toEqual(['a-second', 'shop']);
    expect(await pools.read('nothing')).toMatchObject({ status: 404 });
    expect(await (await newPools()).read('shop')).toMatchObject({ status: 404 });
  });

  test('takes every spelling of an address as one, is extended by `append`, and is replaced without it', async () => {
    const pools = await newPools();
    const [one, two, three] = wallets(3) as [string, string, string];
    const put = await pools.putList('shop', [one, one.toLowerCase(), two], { rest_seconds: 7200 });
    expect(put.json).toMatchObject({ size: 2, first_addresses: [one, two] });
    const appended = await pools.putList('shop', [three, one], { append: true });
    // Without `rest_seconds` it keeps its rest.
    expect(appended.json).toMatchObject({ size: 3, first_addresses: [one, two, three], rest_seconds: 7200 });
    const replaced = await pools.putList('shop', [three, two]);
    expect(replaced.json).toMatchObject({ size: 2, first_addresses: [three, two], created_at: put.json.created_at });
    expect((await pools.putList('shop', [three, two])).json).toEqual(replaced.json);
  });

  test("leaves out other merchants' addresses, and takes none from anybody", async () => {
    const { merchantId: other, payment } = await newPayment(payments);
    const own = newWallet();
    const pools = await newPools();
    const put = await pools.putList('shop', [payment.merchant_wallet.toLowerCase(), own]);
    expect(put.json).toMatchObject({ size: 1, first_addresses: [own], refused: [payment.merchant_wallet] });
    expect((await pools.read('shop')).json).toMatchObject({ size: 1, refused: [] });
    const others = await poolsOf(payments, other).putList('shop', [own]);
    expect(others.json).toMatchObject({ size: 1, refused: [] });
    expect((await create(payments, await newMerchant(payments), { wallet: own })).status).toBe(201);
  });

  test('does not count an address as free while a payment on it is unfinished or rests', async () => {
    const merchantId = await newMerchant(payments);
    const pools = poolsOf(payments, merchantId);
    const [waiting, cancelled, over] = await Promise.all(
      ['1', '2', '3'].map((amount) => newPayment(payments, { amount }, merchantId)),
    );
    await cancelled!.cancel();
    await over!.cancel();
    await payments.db.query(
      `update payment set cancelled_at = cancelled_at - interval '2 hours', created_at = created_at - interval '3 hours' where payment_id = $1`,
      [over!.payment.payment_id],
    );
    const addresses = [waiting!, cancelled!, over!].map(({ payment }) => payment.merchant_wallet);
    const put = await pools.putList('used', [...addresses, newWallet()], { rest_seconds: 3600 });
    expect(put.json).toMatchObject({ size: 4, free: 2 });
    const [first, second, third] = await placesOf(payments.db, 'used');
    const restAfter = new Date(Date.parse(waiting!.payment.expires_at) + 3_600_000);
    expect([first!.free_at, third!.free_at instanceof Date && third!.free_at < new Date()]).toEqual([restAfter, true]);
    const { rows } = await payments.db.query<{ cancelled_at: Date }>(
      'select cancelled_at from payment where payment_id = $1',
      [cancelled!.payment.payment_id],
    );
    expect(second!.free_at).toEqual(new Date(rows[0]!.cancelled_at.getTime() + 3_600_000));
  });

  test('can be changed to another kind and back without touching a payment, but not by `append`', async () => {
    const merchantId = await newMerchant(payments);
    const pools = poolsOf(payments, merchantId);
    const one = await newPayment(payments, {}, merchantId);
    await pools.putList('shop', [one.payment.merchant_wallet]);
    const account = newAccount();
    expect((await pools.putKey('shop', account)).json).toMatchObject({ kind: 'xpub', size: null, next_index: 0 });
    const appended = await pools.putList('shop', wallets(1), { append: true });
    expect(appended).toMatchObject({ status: 422, json: { detail: [{ field: 'append' }] } });
    expect((await pools.putList('shop', wallets(2))).json).toMatchObject({ kind: 'list', size: 2, next_index: null });
    expect(await one.details()).toMatchObject({ status: 'PENDING', merchant_wallet: one.payment.merchant_wallet });
    // Nothing is left of a list that was replaced, or of a key that never gave an index.
    const { rows } = await payments.db.query('select kind from address_source where merchant_id = $1', [merchantId]);
    expect(rows).toEqual([{ kind: 'list' }]);
  });

  test.each([
    ['an address of another kind of network', { addresses: ['TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH'] }, 'addresses[0]'],
    ['a text that is no address', { addresses: ['0x12'] }, 'addresses[0]'],
    ['an unknown network', { network: 'tron', addresses: [newWallet()] }, 'network'],
    ['too short a rest', { addresses: [newWallet()], rest_seconds: 3599 }, 'rest_seconds'],
    ['too long a rest', { addresses: [newWallet()], rest_seconds: 604_801 }, 'rest_seconds'],
    ['no address', { addresses: [] }, 'addresses'],
    ['more than 500', { addresses: wallets(501) }, 'addresses'],
  ])('is refused with %s', async (_, body, field) => {
    const pools = await newPools();
    const answer = await pools.put('shop', { append: false, ...body });
    expect([answer.status, answer.json.detail.map((item) => item.field)]).toEqual([
      422,
      expect.arrayContaining([field]),
    ]);
    expect(await pools.list()).toEqual([]);
  });
});

describe('a merchant has at most', () => {
  test('20 pools, also when they are made at the same time', async () => {
    const pools = await newPools();
    const answers = await Promise.all(
      Array.from({ length: 22 }, (_, number) => pools.putList(`pool-${number}`, wallets(1))),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
    expect(answers.find(({ status }) => status === 422)?.json).toMatchObject({ detail: [{ field: 'name' }] });
    const [kept] = await pools.list();
    expect((await pools.putList(kept!.name, wallets(2))).json).toMatchObject({ size: 2 });
  });

  test('10,000 addresses in lists', async () => {
    const pools = await newPools();
    await pools.putList('large', wallets(1));
    await pools.putList('small', wallets(1));
    await payments.db.query(
      `insert into pool_address (source_id, address, place)
       select source_id, 'filled ' || n, n from wallet_pool, generate_series(1, 9997) n where name = 'large'`,
    );
    expect((await pools.putList('small', wallets(2), { append: true })).status).toBe(422);
    const last = await pools.putList('small', wallets(1), { append: true });
    expect(last).toMatchObject({ status: 200, json: { size: 2 } });
    expect(await pools.putList('more', wallets(1))).toMatchObject({
      status: 422,
      json: { detail: [{ field: 'addresses' }] },
    });
    expect((await pools.putList('large', wallets(3))).json).toMatchObject({ size: 3 });
  });
});

describe('a pool of an extended public key', () => {
  test('shows the next index and the first three addresses, and never the key', async () => {
    const pools = await newPools();
    const account = newAccount();
    const put = await pools.putKey('shop', account);
    const pool = { name: 'shop', ...asKey, rest_seconds: 86_400, next_index: 0, first_addresses: account.addresses(3) };
    expect(put).toMatchObject({ status: 200, json: pool });
    expect((await pools.read('shop')).text).toBe(put.text);
    expect(put.text).not.toContain('xpub6');
    const { rows } = await payments.db.query(
      `select from address_source s where s::text like '%' || $1 || '%' or strpos(encode(key_encrypted, 'escape'), $1) > 0`,
      [account.xpub.slice(20, 40)],
    );
    expect(rows).toEqual([]);
  });

  test('of another merchant is a conflict, also when both are first at the same time', async () => {
    const account = newAccount();
    const both = [await newPools(), await newPools()];
    const answers = await Promise.all(both.map((pools) => pools.putKey('shop', account)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const refused = answers.find(({ status }) => status === 409);
    expect(refused!.json).toMatchObject({ code: 'wallet_of_another_merchant' });
    expect((await Promise.all(both.map((pools) => pools.list()))).flat()).toHaveLength(1);
  });

  test.each([
    ['an address that is not its first', (address: string) => ({ expect_first_address: address })],
    ['a text as its first address', () => ({ expect_first_address: 'first' })],
  ])('is refused with %s, which the reason names', async (_, change) => {
    const pools = await newPools();
    const account = newAccount();
    const [first, second] = account.addresses(2);
    const answer = await pools.put('shop', { xpub: account.xpub, ...change(second!) });
    expect(answer).toMatchObject({ status: 422, json: { detail: [{ field: 'expect_first_address' }] } });
    expect(answer.text).toContain(first);
    expect(await pools.list()).toEqual([]);
  });

  test('and addresses together are refused, and so is neither', async () => {
    const pools = await newPools();
    const account = newAccount();
    const key = { xpub: account.xpub, expect_first_address: account.addresses(1)[0] };
    const list = { addresses: wallets(1), append: false };
    for (const body of [{ ...key, ...list }, {}]) expect((await pools.put('shop', body)).status).toBe(422);
  });

  test('as a private key is refused, and stays neither in a log nor in the database', async () => {
    const pools = await newPools();
    const account = newAccount();
    const [first] = account.addresses(1);
    const answers = [
      await pools.put('shop', { xpub: account.xprv, expect_first_address: first }),
      await pools.put('shop', { xpub: account.xpub, expect_first_address: account.xprv }),
      await pools.put('shop', { addresses: [account.xprv], append: false }),
      await pools.put('shop', { network: account.xprv, addresses: [first], append: false }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([422, 422, 422, 422]);
    const secret = account.xprv.slice(20, 60);
    expect(answers.map(({ text }) => text).join()).not.toContain(secret);
    expect(JSON.stringify(payments.logs())).not.toContain(secret);
    expect(await (await fetch(`${payments.url}/metrics`)).text()).not.toContain(secret);
    const { rows } = await payments.db.query<{ name: string }>(
      `select quote_ident(table_name) as name from information_schema.tables where table_schema = current_schema()`,
    );
    expect(rows.length).toBeGreaterThan(20);
    for (const { name } of rows) {
      const found = await payments.db.query(`select from ${name} t where strpos(t::text, $1) > 0`, [secret]);
      expect([name, found.rowCount]).toEqual([name, 0]);
    }
  });
});

test('without an encryption key, lists work and extended keys are refused with the reason', async () => {
  const simple = await startPayments();
  try {
    const pools = poolsOf(simple, await newMerchant(simple));
    expect((await pools.putList('shop', wallets(1))).status).toBe(200);
    const answer = await pools.putKey('key', newAccount());
    expect([answer.status, answer.json.detail]).toEqual([
      422,
      [{ field: 'xpub', reason: 'cannot be used: extended keys are not enabled in this installation' }],
    ]);
  } finally {
    await simple.close();
  }
});
