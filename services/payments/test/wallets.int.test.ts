import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import { type PaymentsUnderTest, startPayments } from './service.ts';
import { create, newMerchant, newWallet } from './fixtures.ts';

// Real processes on a busy machine take their time; nothing here passes or fails by it.
let payments: PaymentsUnderTest;
beforeAll(async () => {
  payments = await startPayments({ replicas: 2 });
});
afterAll(() => payments.close());

type Wallet = { address: string; merchant_id: string | null; bound_at: string | null; releases: object[] };
const show = async (address: string) => (await payments.call<Wallet>('GET', `/wallets/${address}`)).json;
const author = { actor: 'olga', reason: 'the shop was sold' };
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown as string;

test('a wallet shows its owner, since when, and every release with its author and reason', async () => {
  const wallet = newWallet();
  expect(await show(wallet)).toEqual({ address: wallet, merchant_id: null, bound_at: null, releases: [] });
  const [first, second] = [await newMerchant(payments), await newMerchant(payments)];
  const before = Date.now();
  expect((await create(payments, first, { wallet, amount: '1' })).status).toBe(201);
  const bound = await show(wallet);
  expect(bound).toEqual({ address: wallet, merchant_id: first, bound_at: time, releases: [] });
  expect(Date.parse(bound.bound_at!)).toBeGreaterThanOrEqual(before - 1);
  expect((await create(payments, second, { wallet, amount: '2' })).status).toBe(409);

  const released = await payments.call('POST', `/wallets/${wallet}/release`, author);
  expect(released).toMatchObject({ status: 200, json: { address: wallet, merchant_id: first } });
  expect(await show(wallet)).toEqual({
    ...{ address: wallet, merchant_id: null, bound_at: null },
    releases: [{ merchant_id: first, ...author, released_at: time }],
  });
  expect((await create(payments, second, { wallet, amount: '2' })).status).toBe(201);
  expect(await show(wallet)).toMatchObject({ merchant_id: second, releases: [{ merchant_id: first }] });

  const audit = await payments.call<{ entries: { at: string }[] }>('GET', `/merchants/${first}/audit`);
  const [entry] = audit.json.entries;
  expect(audit.json.entries).toEqual([
    { at: time, action: 'release_wallet', ...author, before: { wallet }, after: { wallet: null } },
  ]);
  const earlier = await payments.call('GET', `/merchants/${first}/audit?before=${entry!.at}`);
  expect(earlier.json).toEqual({ entries: [] });
  expect((await payments.call('GET', `/merchants/${second}/audit`)).json).toEqual({ entries: [] });
});

test('of two concurrent releases of a wallet one succeeds, and the other finds no owner', async () => {
  const wallet = newWallet();
  const merchantId = await newMerchant(payments);
  expect((await create(payments, merchantId, { wallet })).status).toBe(201);
  const releases = await Promise.all([1, 2].map(() => payments.call('POST', `/wallets/${wallet}/release`, author)));
  expect(releases.map(({ status }) => status).sort()).toEqual([200, 404]);
  expect((await show(wallet)).releases).toHaveLength(1);
});

test('any spelling of an address is the same wallet, and a text that is no address is 422', async () => {
  const wallet = newWallet();
  const merchantId = await newMerchant(payments);
  expect((await create(payments, merchantId, { wallet })).status).toBe(201);
  expect(await show(wallet.toLowerCase())).toMatchObject({ address: wallet, merchant_id: merchantId });
  for (const path of ['/wallets/0x12', '/wallets/%2e%2e%2f']) {
    expect(await payments.call('GET', path)).toMatchObject({ status: 422, json: { detail: [{ field: 'address' }] } });
  }
  const unsaid = await payments.call('POST', `/wallets/${wallet}/release`, { actor: 'olga' });
  expect(unsaid).toMatchObject({ status: 422, json: { detail: [{ field: 'reason' }] } });
  const wrong = await payments.call('GET', `/merchants/${newId('mer')}/audit?before=x`);
  expect(wrong).toMatchObject({ status: 422, json: { detail: [{ field: 'before' }] } });
});
