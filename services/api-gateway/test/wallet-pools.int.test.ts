import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { addressFromHex } from '@quittance/contracts/address.ts';
import { USDT_ON_EVM, WALLET, WALLET_LOWER } from '@quittance/testkit/sample-networks.ts';
import { insist } from '@quittance/testkit/insist.ts';
import { internal as internalHeaders, testGateway, type Merchant, type TestGateway } from './gateway.ts';

let gateway: TestGateway;
let merchant: Merchant;
beforeAll(async () => {
  gateway = await testGateway();
});
afterAll(() => gateway.close());
// Ten changes a minute are allowed: each test has its own.
const newMerchant = async () => {
  merchant = await gateway.merchant();
};
beforeAll(newMerchant);

/** m/0'/1/2' of test vector 1 in BIP-32. */
const xpub =
  'xpub6D4BDPcP2GT577Vvch3R8wDkScZWzQzMMUm3PWbmWvVJrZwQY4VUNgqFJPMM3No2dFDFGTsxxpG5uJh7n7epu4trkrX7x7DogT5Uv6fcLW5';
const xprv =
  'xprv9z4pot5VBttmtdRTWfWQmoH1taj2axGVzFqSb8C9xaxKymcFzXBDptWmT7FwuEzG3ryjH4ktypQSAewRiNMjANTtpgP4mLTj34bhnZX7UiM';
const TRON_WALLET = addressFromHex('tron', `0x${'22'.repeat(20)}`);

const call = (method: string, path: string, body?: object, key = merchant.api_key) =>
  insist(() =>
    gateway.call(method, `/api/v1/merchant${path}`, { headers: { 'X-API-Key': key }, ...(body && { body }) }),
  );
const put = (body: object, name = 'shop') => call('PUT', `/wallet-pools/${name}`, body);
const internal = (path: string) => `/internal/v1/merchants/${merchant.merchant_id}${path}`;
const answers = (route: string, path: string, status: number, body: unknown) =>
  gateway.payments.answers.set(`${route} ${internal(path)}`, { status, body });
const lastBody = () => JSON.parse(gateway.payments.received.at(-1)!.body) as object;

describe('PUT /merchant/wallet-pools/{name}', () => {
  test('sends canonical addresses, each once, and forwards the answer', async () => {
    await newMerchant();
    answers('PUT', '/wallet-pools/shop', 200, { name: 'shop' });
    const answer = await put({ network: 'local', addresses: [WALLET_LOWER, WALLET], rest_seconds: 3600 });
    expect([answer.status, answer.json()]).toEqual([200, { name: 'shop' }]);
    expect(lastBody()).toEqual({ network: 'local', addresses: [WALLET], append: false, rest_seconds: 3600 });
    await put({ network: 'tron', addresses: [TRON_WALLET], append: true });
    expect(lastBody()).toEqual({ network: 'tron', addresses: [TRON_WALLET], append: true });
    await put({ network: 'local', xpub, expect_first_address: WALLET_LOWER });
    expect(lastBody()).toEqual({ network: 'local', xpub, expect_first_address: WALLET });
  });

  test.each([404, 409, 422])('forwards %i of payments', async (status) => {
    await newMerchant();
    answers('PUT', '/wallet-pools/shop', status, { detail: 'why', code: 'a_code' });
    expect((await put({ network: 'local', addresses: [WALLET] })).status).toBe(status);
  });

  const list = { network: 'local', addresses: [WALLET] };
  const key = { network: 'local', xpub, expect_first_address: WALLET };
  test.each<[string, object, string[]]>([
    ['nothing', {}, ['addresses', 'network']],
    ['an unknown network', { ...list, network: 'nowhere' }, ['network']],
    ['an unknown field', { ...list, note: 1 }, ['note']],
    ['both kinds', { ...list, ...key }, ['addresses']],
    ['both kinds and `append`', { ...list, ...key, append: false }, ['addresses', 'append']],
    ['a key without its first address', { network: 'local', xpub }, ['expect_first_address']],
    ['a first address without a key', { network: 'local', expect_first_address: WALLET }, ['xpub']],
    ['no address', { ...list, addresses: [] }, ['addresses']],
    ['more than 500', { ...list, addresses: Array(501).fill(WALLET) }, ['addresses']],
    [
      'wrong types',
      { network: 1, addresses: 'x', append: 1, rest_seconds: '1' },
      ['addresses', 'append', 'network', 'rest_seconds'],
    ],
    ['null', { ...list, rest_seconds: null }, ['rest_seconds']],
    ['too short a rest', { ...list, rest_seconds: 3599 }, ['rest_seconds']],
    ['too long a rest', { ...list, rest_seconds: 604_801 }, ['rest_seconds']],
    [
      'addresses that cannot receive payments',
      { ...list, addresses: [WALLET, `0x${'0'.repeat(40)}`, USDT_ON_EVM, WALLET.replace('a', 'A'), 7, TRON_WALLET] },
      ['addresses[1]', 'addresses[2]', 'addresses[3]', 'addresses[4]', 'addresses[5]'],
    ],
    ['a key of another kind', { ...key, xpub: 'ypub' }, ['xpub']],
    ['a first address of another kind', { ...key, expect_first_address: TRON_WALLET }, ['expect_first_address']],
  ])('refuses %s and names every field', async (_, body, fields) => {
    const sent = gateway.payments.received.length;
    const answer = await put(body);
    const detail = answer.json()['detail'] as { field: string; reason: string }[];
    expect([answer.status, detail.map(({ field }) => field).toSorted()]).toEqual([422, fields]);
    expect(gateway.payments.received).toHaveLength(sent);
  });

  test.each(['A', 'a_b', 'x'.repeat(41), 'a%2Fb'])('refuses the name %s', async (name) => {
    const answer = await put(list, name);
    expect([answer.status, answer.json()['detail']]).toMatchObject([422, [{ field: 'name' }]]);
  });

  test('refuses a private key wherever it is, and neither sends it on nor keeps it', async () => {
    const sent = gateway.payments.received.length;
    const bodies = [
      { ...key, xpub: xprv },
      { ...key, expect_first_address: xprv },
      { ...list, addresses: [xprv] },
      { ...list, network: xprv },
      { ...list, [xprv]: 1 },
      { ...list, rest_seconds: xprv },
    ];
    for (const body of bodies) expect((await put(body)).status).toBe(422);
    expect((await put(list, xprv)).status).toBe(422);
    expect(gateway.payments.received).toHaveLength(sent);
    const secret = xprv.slice(20, 60);
    expect(gateway.logs()).not.toContain(secret);
    const metrics = await gateway.call('GET', '/metrics');
    expect(metrics.text).not.toContain(secret);
    const { rows } = await gateway.pool.query<{ name: string }>(
      'select quote_ident(table_name) as name from information_schema.tables where table_schema = current_schema()',
    );
    for (const { name } of rows) {
      const found = await gateway.pool.query(`select from ${name} t where strpos(t::text, $1) > 0`, [secret]);
      expect([name, found.rowCount]).toEqual([name, 0]);
    }
  });

  test('counts with the settings of the webhook', async () => {
    await newMerchant();
    answers('PUT', '/wallet-pools/shop', 200, {});
    for (let number = 0; number < 10; number += 1) expect((await put(list)).status).toBe(200);
    expect((await put(list)).status).toBe(429);
    expect((await call('DELETE', `/wallet-rests/${WALLET}`)).status).toBe(429);
    expect((await call('PUT', '/webhook', { url: 'https://shop.example/hook' })).status).toBe(429);
  });
});

describe('reading pools', () => {
  test('forwards one and all of them', async () => {
    await newMerchant();
    answers('GET', '/wallet-pools', 200, { pools: [] });
    answers('GET', '/wallet-pools/shop', 200, { name: 'shop' });
    expect((await call('GET', '/wallet-pools')).json()).toEqual({ pools: [] });
    expect((await call('GET', '/wallet-pools/shop')).json()).toEqual({ name: 'shop' });
  });

  test('answers 404 for an unknown name and one that no pool can have', async () => {
    answers('GET', '/wallet-pools/none', 404, { detail: 'Wallet pool not found', code: 'not_found' });
    const [unknown, impossible] = [await call('GET', '/wallet-pools/none'), await call('GET', '/wallet-pools/A')];
    expect([unknown.status, unknown.text]).toEqual([404, impossible.text]);
  });
});

describe('DELETE /merchant/wallet-rests/{address}', () => {
  test('sends the canonical address and forwards the answer', async () => {
    await newMerchant();
    answers('DELETE', `/wallet-rests/${WALLET}`, 200, { address: WALLET, networks: ['local'] });
    const answer = await call('DELETE', `/wallet-rests/${WALLET_LOWER}`);
    expect([answer.status, answer.json()]).toEqual([200, { address: WALLET, networks: ['local'] }]);
  });

  test('answers 404 for an address that does not rest and a text that is none', async () => {
    answers('DELETE', `/wallet-rests/${TRON_WALLET}`, 404, { detail: 'This address does not rest', code: 'not_found' });
    const [unknown, none] = [
      await call('DELETE', `/wallet-rests/${TRON_WALLET}`),
      await call('DELETE', '/wallet-rests/0x12'),
    ];
    expect([unknown.status, unknown.text]).toEqual([404, none.text]);
  });
});

test('a key with the scope `read` reads pools, and changes nothing', async () => {
  await newMerchant();
  const added = await gateway.call('POST', `/internal/v1/merchants/${merchant.merchant_id}/api-keys`, {
    headers: internalHeaders,
    body: { name: 'reader', scope: 'read', actor: 'tests', reason: 'a key that reads' },
  });
  expect(added.status).toBeLessThan(300);
  const reader = added.json()['api_key'] as string;
  answers('GET', '/wallet-pools', 200, { pools: [] });
  expect((await call('GET', '/wallet-pools', undefined, reader)).status).toBe(200);
  const body = { network: 'local', addresses: [WALLET] };
  expect((await call('PUT', '/wallet-pools/shop', body, reader)).status).toBe(401);
  expect((await call('DELETE', `/wallet-rests/${WALLET}`, undefined, reader)).status).toBe(401);
});
