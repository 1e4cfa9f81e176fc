import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import { merchantRoles, type MerchantRole } from '@quittance/contracts/principal.ts';
import { requestHash } from '@quittance/http/confirmation.ts';
import { issueOperatorToken } from '@quittance/http/operator-token.ts';
import { endWindows, gatewayTrust, internal, testGateway, type Merchant, type TestGateway } from './gateway.ts';

const WALLET = `0x${'1'.repeat(40)}`;
const { payment_id: payment, event_id: event } = { payment_id: newId('pay'), event_id: newId('evt') };

type Change = { line: string; scopes: string[]; roles: MerchantRole[]; confirmed: boolean; body?: object };

const staff = { scopes: ['orders', 'all'], roles: ['staff', 'owner'] as MerchantRole[], confirmed: false };
const settings = { scopes: ['all'], roles: ['owner'] as MerchantRole[], confirmed: true };

/** Every route that changes something: the scopes of keys and the roles of people that may, and whether people confirm it. */
const changes: Change[] = [
  { line: 'POST /payments', ...staff, body: { amount: '1', description: 'x', merchant_wallet: WALLET } },
  { line: `POST /payments/${payment}/cancel`, ...staff },
  { line: `POST /merchant/webhook/events/${event}/retry`, ...staff },
  { line: 'POST /merchant/webhook/test', ...staff },
  {
    ...{ line: `POST /payments/${payment}/accept-transfer`, ...staff, scopes: ['all'], confirmed: true },
    body: { transaction_id: 'ab'.repeat(32), transaction_event_index: 0 },
  },
  { line: 'PUT /merchant/webhook', ...settings, body: { url: 'https://shop.example/hook' } },
  { line: 'POST /merchant/webhook/rotate-key', ...settings },
  { line: 'PUT /merchant/wallet-pools/shop', ...settings, body: { network: 'local', addresses: [WALLET] } },
  { line: `DELETE /merchant/wallet-rests/${WALLET}`, ...settings },
  { line: 'PUT /merchant/profile', ...settings, confirmed: false, body: { display_name: 'Shop' } },
];

let gateway: TestGateway;
let shop: Merchant;
let keys: Record<string, string>;
beforeAll(async () => {
  gateway = await testGateway({ passkeysFor: ['pay.example'] });
  shop = await gateway.merchant();
  const scopes = ['read', 'orders', 'all'];
  const made = scopes.map(async (scope) => {
    const body = { name: scope, scope, actor: 'root', reason: 'a test' };
    const path = `/internal/v1/merchants/${shop.merchant_id}/api-keys`;
    const answer = await gateway.call('POST', path, { headers: internal, body });
    return [scope, String(answer.json()['api_key'])] as const;
  });
  keys = Object.fromEntries(await Promise.all(made));
});
afterAll(() => gateway.close());

/** Whether the gateway let it in: behind it nobody answers, or says that there is no such thing. */
async function isLetIn(line: string, headers: Record<string, string>, body?: object): Promise<boolean> {
  await Promise.all(
    ['creation', 'cancellation', 'webhook_settings', 'manual_retry', 'shared_reads'].map((scope) =>
      endWindows(gateway.pool, scope),
    ),
  );
  const [method = '', path = ''] = line.split(' ');
  const given = {
    headers: { 'Idempotency-Key': crypto.randomUUID(), ...headers },
    ...(body !== undefined && { body }),
  };
  const { status } = await gateway.call(method, `/api/v1${path}`, given);
  return ![401, 403].includes(status);
}

const tokenOf = (merchant_role: MerchantRole, merchant_id: string, confirms?: string) => ({
  'x-operator-token': issueOperatorToken(gatewayTrust, {
    ...{ name: 'anna', role: 'merchant', merchant_id, merchant_role, console: true },
    ...(confirms !== undefined && { confirms }),
  }),
});

test.each(changes)('$line is for the keys and people that may', async ({ line, scopes, roles, confirmed, body }) => {
  const [method = '', path = ''] = line.split(' ');
  for (const [scope, key] of Object.entries(keys))
    expect([scope, await isLetIn(line, { 'X-API-Key': key }, body)]).toEqual([scope, scopes.includes(scope)]);
  const text = body === undefined ? '' : JSON.stringify(body);
  for (const role of merchantRoles) {
    const may = roles.includes(role);
    const plain = tokenOf(role, shop.merchant_id);
    expect([role, 'as it is', await isLetIn(line, plain, body)]).toEqual([role, 'as it is', may && !confirmed]);
    const confirming = tokenOf(role, shop.merchant_id, requestHash(method, `/api/v1${path}`, text));
    expect([role, 'confirmed', await isLetIn(line, confirming, body)]).toEqual([role, 'confirmed', may]);
    const other = tokenOf(role, shop.merchant_id, requestHash(method, `/api/v1${path}`, `${text} `));
    expect([role, 'another confirmed', await isLetIn(line, other, body)]).toEqual([
      role,
      'another confirmed',
      may && !confirmed,
    ]);
  }
  const nobodys = tokenOf('owner', newId('mer'), requestHash(method, `/api/v1${path}`, text));
  expect(await isLetIn(line, nobodys, body)).toBe(false);
});

test('everything that reads is for every key and every person, and for nobody without either', async () => {
  const proof = `/payments/${payment}/proof`;
  for (const path of [
    '/payments',
    proof,
    '/merchant/limits',
    '/merchant/profile',
    '/merchant/wallet-pools',
    '/rates',
  ]) {
    for (const key of Object.values(keys)) expect(await isLetIn(`GET ${path}`, { 'X-API-Key': key })).toBe(true);
    for (const role of merchantRoles)
      expect([path, role, await isLetIn(`GET ${path}`, tokenOf(role, shop.merchant_id))]).toEqual([path, role, true]);
    expect(await isLetIn(`GET ${path}`, {})).toBe(false);
  }
});

test('an operator has no way to the public API, and a person of a blocked merchant has none either', async () => {
  const token = issueOperatorToken(gatewayTrust, { name: 'ada', role: 'admin' });
  expect(await isLetIn('GET /payments', { 'x-operator-token': token })).toBe(false);
  const other = await gateway.merchant();
  const path = `/internal/v1/merchants/${other.merchant_id}/block`;
  await gateway.call('POST', path, { headers: internal, body: { actor: 'root', reason: 'a test' } });
  expect(await isLetIn('GET /payments', tokenOf('owner', other.merchant_id))).toBe(false);
});
