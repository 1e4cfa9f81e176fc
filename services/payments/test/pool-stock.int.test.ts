import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import type { MovedKey } from '@quittance/contracts/http/payments/pools.ts';
import { parseNetworks } from '@quittance/contracts/networks.ts';
import { countForeignKeys, resealKeys } from '@quittance/postgres/sealed-keys.ts';
import { transaction, type Transaction } from '@quittance/postgres/transaction.ts';
import { createKeyVault } from '@quittance/runtime/key-vault.ts';
import { poolKeys } from '../src/pools/key.sql.ts';
import { findPool } from '../src/pools/pool.sql.ts';
import { createStock } from '../src/pools/stock.ts';
import { newMerchant, newPayment, type TestPayment } from './fixtures.ts';
import { type Account, newAccount, poolsOf } from './pool-fixtures.ts';
import { network, networks, type PaymentsUnderTest, startPayments } from './service.ts';

const encryptionKey = randomBytes(32);
const vault = createKeyVault(encryptionKey);
const stock = createStock({ vault, networks: parseNetworks(networks) });

let payments: PaymentsUnderTest;
beforeAll(async () => {
  payments = await startPayments({ settings: { WALLET_POOL_ENCRYPTION_KEY: encryptionKey.toString('base64') } });
});
afterAll(() => payments.close());

/** A merchant with a pool of a new key. */
async function newKeyPool(account: Account = newAccount()) {
  const merchantId = await newMerchant(payments);
  const pools = poolsOf(payments, merchantId);
  expect((await pools.putKey('shop', account)).status).toBe(200);
  const sourceId = (await findPool(payments.db, merchantId, 'shop'))!.source_id;
  const nextIndex = async () => (await pools.read('shop')).json.next_index;
  return { ...pools, merchantId, account, sourceId, nextIndex };
}

/** Takes the lowest address of the stock, as a creation does. */
async function take(tx: Transaction, sourceId: bigint): Promise<{ address: string; place: number }> {
  const one = () =>
    tx.query<{ address: string; place: number }>(
      `delete from pool_address where (source_id, address) in
         (select source_id, address from pool_address where source_id = $1 order by place limit 1 for update skip locked)
       returning address, place`,
      [sourceId],
    );
  const [found] = (await one()).rows;
  if (found !== undefined) return found;
  await stock.fill(tx, sourceId);
  return (await one()).rows[0]!;
}
const takeFrom = (sourceId: bigint) => transaction(payments.db, (tx) => take(tx, sourceId));

describe('the stock of a key', () => {
  test('gives each index once and in order, whatever the pools are named', async () => {
    const { account, sourceId, nextIndex, putKey, merchantId } = await newKeyPool();
    const given = [];
    for (let number = 0; number < 25; number += 1) given.push(await takeFrom(sourceId));
    expect(given).toEqual(account.addresses(25).map((address, place) => ({ address, place })));
    expect(await nextIndex()).toBe(25);
    const second = await putKey('other-name', account, { rest_seconds: 3600 });
    expect(second.json).toMatchObject({ next_index: 25, rest_seconds: 3600 });
    expect((await findPool(payments.db, merchantId, 'other-name'))!.source_id).toBe(sourceId);
  });

  test('gives no index twice to takers at the same time', async () => {
    const { account, sourceId } = await newKeyPool();
    const given = await Promise.all(Array.from({ length: 30 }, () => takeFrom(sourceId)));
    const places = given.map(({ place }) => place);
    expect(new Set(places).size).toBe(30);
    const addresses = account.addresses(Math.max(...places) + 1);
    for (const { address, place } of given) expect(address).toBe(addresses[place]);
  });

  test('keeps what it has when the transaction is rolled back', async () => {
    const { sourceId, nextIndex } = await newKeyPool();
    await expect(
      transaction(payments.db, async (tx) => {
        expect((await take(tx, sourceId)).place).toBe(0);
        throw new Error('refused');
      }),
    ).rejects.toThrow('refused');
    expect(await nextIndex()).toBe(0);
    expect((await takeFrom(sourceId)).place).toBe(0);
  });

  test('goes on where it was when the key comes back after another', async () => {
    const { sourceId, account, putKey, putList, nextIndex } = await newKeyPool();
    await takeFrom(sourceId);
    await putList('shop', account.addresses(1));
    await putKey('shop', newAccount());
    expect(await nextIndex()).toBe(0);
    await putKey('shop', account);
    expect(await nextIndex()).toBe(1);
  });

  test('cannot be filled without the encryption key, or for a list', async () => {
    const { sourceId, putList, merchantId } = await newKeyPool();
    const without = createStock({ vault: null, networks: parseNetworks(networks) });
    const foreign = createStock({ vault: createKeyVault(randomBytes(32)), networks: parseNetworks(networks) });
    for (const one of [without, foreign])
      await expect(transaction(payments.db, (tx) => one.fill(tx, sourceId))).rejects.toThrow();
    await putList('list', [newAccount().addresses(1)[0]!]);
    const list = (await findPool(payments.db, merchantId, 'list'))!;
    await expect(transaction(payments.db, (tx) => stock.fill(tx, list.source_id))).rejects.toThrow('is not a key');
  });
});

test('a key is sealed again with a new encryption key, and gives the same addresses', async () => {
  const { account, sourceId } = await newKeyPool();
  const next = randomBytes(32);
  const during = createKeyVault(next, encryptionKey);
  const after = createStock({ vault: createKeyVault(next), networks: parseNetworks(networks) });
  try {
    const { resealed, unopened } = await transaction(payments.db, (tx) => resealKeys(tx, poolKeys, during));
    expect([resealed > 0, unopened]).toEqual([true, []]);
    expect(await countForeignKeys(payments.db, poolKeys, [during.encryptionKeyId])).toBe(0);
    await transaction(payments.db, (tx) => after.fill(tx, sourceId, 2));
    expect([await takeFrom(sourceId), await takeFrom(sourceId)]).toMatchObject(
      account.addresses(2).map((address) => ({ address })),
    );
  } finally {
    const back = createKeyVault(encryptionKey, next);
    await transaction(payments.db, (tx) => resealKeys(tx, poolKeys, back));
  }
});

test('a key that cannot be opened any more is repaired by its merchant, and goes on at its index', async () => {
  const { account, sourceId, putKey } = await newKeyPool();
  await transaction(payments.db, (tx) => stock.fill(tx, sourceId, 1));
  expect((await takeFrom(sourceId)).place).toBe(0);
  await payments.db.query(`update address_source set key_encrypted = sha512(key_encrypted) where source_id = $1`, [
    sourceId,
  ]);
  await expect(takeFrom(sourceId)).rejects.toThrow();
  expect((await putKey('shop', account)).json).toMatchObject({ next_index: 1 });
  expect(await takeFrom(sourceId)).toEqual({ address: account.addresses(1, 1)[0], place: 1 });
});

const author = { actor: 'olga', reason: 'restored the copy of Monday' };

test('after a restore every key moves on by 1,000 indexes without its stock, which is audited', async () => {
  const { sourceId, merchantId, account, nextIndex } = await newKeyPool();
  await takeFrom(sourceId);
  const fresh = await newKeyPool();
  const { json } = await payments.call<{ moved: MovedKey[] }>('POST', '/restores/finished', author);
  const ofMerchant = (id: string) => json.moved.filter(({ merchant_id }) => merchant_id === id);
  const moved = { network, from_index: 20, to_index: 1020 };
  expect(ofMerchant(merchantId)).toEqual([{ merchant_id: merchantId, ...moved }]);
  expect(ofMerchant(fresh.merchantId)).toMatchObject([{ from_index: 0, to_index: 1000 }]);
  expect([await nextIndex(), await fresh.nextIndex()]).toEqual([1020, 1000]);
  expect(await takeFrom(sourceId)).toEqual({ address: account.addresses(1, 1020)[0], place: 1020 });
  const audit = await payments.call<{ entries: object[] }>('GET', `/merchants/${merchantId}/audit`);
  expect(audit.json.entries).toMatchObject([
    { action: 'move_pool_key', ...author, before: { next_index: 20 }, after: { network, next_index: 1020 } },
  ]);
  const refused = await payments.call('POST', '/restores/finished', { actor: 'olga' });
  expect(refused).toMatchObject({ status: 422, json: { detail: [{ field: 'reason' }] } });
});

describe('the rest of an address', () => {
  const release = (merchantId: string, address: string) =>
    payments.call('DELETE', `/merchants/${merchantId}/wallet-rests/${address}`);
  /** A payment as if a pool had given its address. */
  const dedicate = ({ payment }: TestPayment) =>
    payments.db.query('update payment set rest_seconds = 3600 where payment_id = $1', [payment.payment_id]);
  const releasedAt = async ({ payment }: TestPayment) => {
    const { rows } = await payments.db.query<{ released_at: Date | null }>(
      'select released_at from payment where payment_id = $1',
      [payment.payment_id],
    );
    return rows[0]!.released_at;
  };

  test('is ended by its merchant once, which is audited, and pools can give the address again', async () => {
    const merchantId = await newMerchant(payments);
    const one = await newPayment(payments, {}, merchantId);
    const { merchant_wallet: address, payment_id } = one.payment;
    await dedicate(one);
    expect((await release(merchantId, address)).status).toBe(404);
    await one.cancel();
    const pools = poolsOf(payments, merchantId);
    expect((await pools.putList('shop', [address])).json).toMatchObject({ free: 0 });
    expect((await release(await newMerchant(payments), address)).status).toBe(404);

    expect(await release(merchantId, address.toLowerCase())).toMatchObject({
      status: 200,
      json: { address, networks: [network] },
    });
    expect((await pools.read('shop')).json).toMatchObject({ free: 1 });
    expect(await releasedAt(one)).toBeInstanceOf(Date);
    expect((await release(merchantId, address)).status).toBe(404);
    const audit = await payments.call<{ entries: object[] }>('GET', `/merchants/${merchantId}/audit`);
    expect(audit.json.entries).toMatchObject([
      { action: 'release_rest', actor: 'merchant', before: { rests: true }, after: { wallet: address, payment_id } },
    ]);
    // Nothing rests any more when the address comes into another list either.
    expect((await pools.putList('another', [address])).json).toMatchObject({ free: 1 });
  });

  test('is over by itself, and a payment that shares its address has none', async () => {
    const merchantId = await newMerchant(payments);
    const [over, shared] = [await newPayment(payments, {}, merchantId), await newPayment(payments, {}, merchantId)];
    await dedicate(over);
    for (const one of [over, shared]) await one.cancel();
    await payments.db.query(
      `update payment set created_at = created_at - interval '3 hours', cancelled_at = cancelled_at - interval '2 hours' where payment_id = $1`,
      [over.payment.payment_id],
    );
    for (const { payment } of [over, shared])
      expect((await release(merchantId, payment.merchant_wallet)).status).toBe(404);
  });

  test('of an earlier payment is not ended while a newer one is unfinished', async () => {
    const merchantId = await newMerchant(payments);
    const first = await newPayment(payments, { amount: '1' }, merchantId);
    const { merchant_wallet: wallet } = first.payment;
    await first.cancel();
    const second = await newPayment(payments, { amount: '2', wallet }, merchantId);
    for (const one of [first, second]) await dedicate(one);
    expect((await release(merchantId, wallet)).status).toBe(404);
    expect(await releasedAt(first)).toBeNull();
  });

  test('of a text that is no address, or of an unknown merchant, is not found', async () => {
    expect((await release(newId('mer'), '0x12')).status).toBe(404);
    expect((await release(newId('mer'), newAccount().addresses(1)[0]!)).status).toBe(404);
  });
});
