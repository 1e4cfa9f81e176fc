import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { create, newKey, newMerchant, newPayment, newWallet } from './fixtures.ts';
import { newAccount, poolsOf } from './pool-fixtures.ts';
import { type Answer, type PaymentsUnderTest, startPayments } from './service.ts';

let payments: PaymentsUnderTest;
beforeAll(async () => {
  payments = await startPayments({
    replicas: 2,
    settings: { WALLET_POOL_ENCRYPTION_KEY: randomBytes(32).toString('base64') },
  });
});
afterAll(() => payments.close());

const wallets = (count: number) => Array.from({ length: count }, newWallet);
const cancelOf = ({ payment_id: id }: Payment, merchant: string) =>
  payments.call<Payment>('POST', `/merchants/${merchant}/payments/${id}/cancel`);
const walletOf = ({ json }: Answer<Payment>) => json.merchant_wallet;

/** A merchant with a pool named shop, from which it creates payments. */
async function shop(addresses: string[] | ReturnType<typeof newAccount>, more: object = {}) {
  const merchantId = await newMerchant(payments);
  const pools = poolsOf(payments, merchantId);
  const put = await (Array.isArray(addresses)
    ? pools.putList('shop', addresses, more)
    : pools.putKey('shop', addresses, more));
  expect(put.status).toBe(200);
  const order = (options: object = {}, amount = '10', key = newKey()) =>
    create(payments, merchantId, { key, amount, options: { wallet_pool: 'shop', ...options } });
  return { merchantId, pools, order };
}

describe('a payment from a pool', () => {
  test('of a list has an address for itself, the same one in every replay', async () => {
    const addresses = wallets(3);
    const { order } = await shop(addresses);
    const key = newKey();
    const first = await order({}, '10', key);
    expect(first.json).toMatchObject({
      ...{ status: 'PENDING', merchant_wallet: addresses[0], network: 'local', dedicated: true },
      ...{ derivation_index: null, received_amount: '0' },
    });
    const replay = await order({}, '10', key);
    expect([replay.text, replay.headers.get('idempotency-replayed')]).toEqual([first.text, 'true']);
    expect(walletOf(await order())).toBe(addresses[1]);
    expect((await order({ accept_from_percent: 90 }, '10', key)).json).toMatchObject({ code: 'idempotency_conflict' });
  });

  test('of a key has the next index, each once', async () => {
    const account = newAccount();
    const { order, pools } = await shop(account);
    const created = await Promise.all(Array.from({ length: 45 }, () => order()));
    expect(created.map(({ status }) => status)).toEqual(created.map(() => 201));
    const indexes = created.map(({ json }) => json.derivation_index!).toSorted((a, b) => a - b);
    expect(indexes).toEqual(Array.from({ length: 45 }, (_, index) => index));
    const derived = account.addresses(45);
    for (const { json } of created) expect(json.merchant_wallet).toBe(derived[json.derivation_index!]);
    expect((await pools.read('shop')).json).toMatchObject({ next_index: 45 });
  });

  test('99 at once get the 99 addresses of the list, and no other gets one', async () => {
    const { order, pools } = await shop(wallets(99));
    const created = await Promise.all(Array.from({ length: 99 }, () => order()));
    expect(new Set(created.map(walletOf)).size).toBe(99);
    expect((await order()).json).toMatchObject({ code: 'wallet_pool_exhausted' });
    expect((await pools.read('shop')).json).toMatchObject({ size: 99, free: 0 });
  });

  test('needs a pool of the merchant, and its network', async () => {
    const { order, merchantId } = await shop(wallets(1));
    expect(await order({ wallet_pool: 'other' })).toMatchObject({
      status: 422,
      json: { detail: [{ field: 'wallet_pool' }] },
    });
    const other = await newMerchant(payments);
    const stranger = await create(payments, other, { options: { wallet_pool: 'shop' } });
    expect(stranger).toMatchObject({ status: 422, json: { detail: [{ field: 'wallet_pool' }] } });
    const body = { idempotency_key: newKey(), amount: '1', description: 'x', wallet_pool: 'shop', network: 'second' };
    const elsewhere = await payments.call('POST', `/merchants/${merchantId}/payments`, body);
    expect(elsewhere).toMatchObject({ status: 422, json: { detail: [{ field: 'network' }] } });
    expect((await order()).status).toBe(201);
  });
});

describe('an address of a list', () => {
  const restOver = ({ payment_id: id }: Payment, hours: number) =>
    payments.db.query(
      `update payment set created_at = created_at - $2 * interval '1 hour', expires_at = expires_at - $2 * interval '1 hour',
              cancelled_at = cancelled_at - $2 * interval '1 hour', status = status where payment_id = $1`,
      [id, hours],
    );

  test('rests after its payment, and is given again when the rest is over, the longest unused first', async () => {
    const addresses = wallets(2);
    const { order, merchantId } = await shop(addresses, { rest_seconds: 3600 });
    const [first, second] = [(await order()).json, (await order()).json];
    await cancelOf(second, merchantId);
    await cancelOf(first, merchantId);
    expect((await order()).json).toMatchObject({ code: 'wallet_pool_exhausted' });
    await restOver(second, 1.1);
    expect(walletOf(await order())).toBe(second.merchant_wallet);
    expect((await order()).json).toMatchObject({ code: 'wallet_pool_exhausted' });
    await restOver(first, 1.1);
    expect(walletOf(await order())).toBe(first.merchant_wallet);
  });

  test('is given again at once when its merchant ends the rest', async () => {
    const { order, merchantId } = await shop(wallets(1));
    const { json: payment } = await order();
    await cancelOf(payment, merchantId);
    expect((await order()).json).toMatchObject({ code: 'wallet_pool_exhausted' });
    const path = `/merchants/${merchantId}/wallet-rests/${payment.merchant_wallet}`;
    expect(await payments.call('DELETE', path)).toMatchObject({ status: 200 });
    expect(walletOf(await order())).toBe(payment.merchant_wallet);
  });

  test('is left out while a payment shares it, and while another merchant owns it', async () => {
    const [shared, foreign, free] = wallets(3) as [string, string, string];
    const { order, merchantId } = await shop([shared, foreign, free]);
    await create(payments, merchantId, { wallet: shared });
    const theirs = await newPayment(payments, { wallet: foreign });
    await theirs.cancel();
    await restOver(theirs.payment, 100);
    expect(walletOf(await order())).toBe(free);
    expect((await order()).json).toMatchObject({ code: 'wallet_pool_exhausted' });
  });

  test('of two pools is given once', async () => {
    const addresses = wallets(4);
    const { order, pools } = await shop(addresses);
    await pools.putList('other', addresses);
    const created = await Promise.all(
      Array.from({ length: 5 }, (_, at) => order({ wallet_pool: at % 2 === 0 ? 'shop' : 'other' })),
    );
    expect(created.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 201, 201, 201, 409]);
    expect(new Set(created.filter(({ status }) => status === 201).map(walletOf)).size).toBe(4);
  });

  test('that two merchants list goes to the one that creates a payment first', async () => {
    const addresses = wallets(10);
    const [one, two] = [await shop(addresses), await shop(addresses)];
    const created = await Promise.all(Array.from({ length: 12 }, (_, at) => (at % 2 === 0 ? one : two).order()));
    const given = created.filter(({ status }) => status === 201).map(walletOf);
    expect(given).toHaveLength(10);
    expect(new Set(given).size).toBe(10);
  });
});
