import { expect, test } from '@jest/globals';
import type { Call } from '../src/call.ts';
import { merchantRoles } from '../src/principal.ts';
import { checkOfSchema } from '../src/schema.ts';
import { serviceNames } from '../src/service-name.ts';
import { declaredCalls as declared, declaredIn } from './declared-calls.ts';

test('every call is in the folder of its owner or in a file about several services, below /internal/v1', () => {
  expect(declared.length).toBeGreaterThan(100);
  for (const { folder, call } of declaredIn) if (folder !== null) expect(call.owner).toBe(folder);
  for (const { path } of declared) expect(path).toMatch(/^\/internal\/v1(\/(:[a-z_]+|[a-z-]+))+$/);
});

test('no service has two calls of one method and path', () => {
  const routes = declared.map((call) => `${call.owner} ${call.method} ${call.path}`);
  expect(new Set(routes).size).toBe(routes.length);
});

test('every schema of a declared call compiles', () => {
  for (const { body, response } of declared) {
    for (const { schema } of [body, response])
      if (schema !== null) expect(() => checkOfSchema(schema)(undefined)).not.toThrow();
  }
});

test('only an admin makes permanent changes to a merchant, and changes credentials, networks and operators; support does the rest', () => {
  const callsFor = (access: Call['access']) =>
    declared
      .filter((call) => call.access === access)
      .map((call) => `${call.method} ${call.path.slice('/internal/v1'.length)}`);
  expect(declared.filter((call) => call.access === 'viewer' && call.method !== 'GET')).toEqual([]);
  expect(callsFor('anyone').sort()).toEqual([
    'POST /account',
    'POST /account/confirmation-options',
    'POST /account/confirmations',
    'POST /account/end-session',
    'POST /account/passkey-options',
    'POST /account/passkeys',
    'POST /account/passkeys/remove',
    'POST /operator-sessions',
    'POST /operator-sessions/by-link',
    'POST /operator-sessions/by-passkey',
    'POST /operator-sessions/close',
    'POST /operator-sessions/passkey-options',
    'POST /operator-sessions/resume',
    'POST /operator-tokens',
  ]);
  expect(callsFor('support').sort()).toEqual([
    'GET /check/counters',
    'GET /check/payments',
    'GET /check/transfers',
    'GET /merchants/:merchant_id/logins',
    'GET /merchants/:merchant_id/notices',
    ...serviceNames.map(() => 'GET /trust'),
    'POST /check/events',
    'POST /check/report',
    'POST /check/transfers',
    'POST /check/transfers',
    'POST /check/usage',
    'POST /events/:event_id/recover',
    'POST /incidents/:incident_id/resolve',
    'POST /incidents/:incident_id/resolve',
    'POST /merchants/:merchant_id/activate',
    'POST /merchants/:merchant_id/block',
    'POST /merchants/:merchant_id/creation-rate',
    'POST /merchants/:merchant_id/extend',
    'POST /merchants/:merchant_id/logins',
    'POST /merchants/:merchant_id/logins/:name/disable',
    'POST /merchants/:merchant_id/logins/:name/reset-passkeys',
    'POST /merchants/:merchant_id/logins/:name/role',
    'POST /merchants/:merchant_id/logins/:name/sign-in-link',
    'POST /merchants/:merchant_id/notices/test',
    'POST /merchants/:merchant_id/pause',
    'POST /merchants/:merchant_id/profile',
    'POST /merchants/:merchant_id/resume',
    'POST /merchants/:merchant_id/unblock',
    'POST /payments/:payment_id/accept-transfer',
    'POST /payments/:payment_id/cancel',
    'POST /wallets/:address/challenge',
    'PUT /merchants/:merchant_id/notices',
  ]);
  // Every change by an operator is in the audit log. Exceptions: calls that only read, the outcome of a check, and a
  // text to sign, which changes nothing by itself.
  const changes = declared.filter((call) => ['support', 'admin'].includes(call.access) && call.method !== 'GET');
  const unaudited = changes.filter((call) => !call.authored && !call.path.startsWith('/internal/v1/check/'));
  expect(unaudited.map((call) => call.path).sort()).toEqual([
    '/internal/v1/archive/deliveries',
    '/internal/v1/wallets/:address/challenge',
  ]);
});

/** What merchants' people may call in a service, by role; what they change else is in the public API. */
const ofPeople = {
  viewer: [
    'api-gateway POST /merchants/:merchant_id/webhook-test',
    'payments GET /merchants/:merchant_id/limits',
    'payments GET /merchants/:merchant_id/payments',
    'payments GET /merchants/:merchant_id/payments/:payment_id',
    'payments GET /merchants/:merchant_id/payments/:payment_id/proof',
    'payments GET /merchants/:merchant_id/payments/export',
    'payments GET /merchants/:merchant_id/report',
    'payments GET /merchants/:merchant_id/totals',
    'payments GET /merchants/:merchant_id/transfers',
    'payments GET /merchants/:merchant_id/unmatched-transfers',
    'payments GET /merchants/:merchant_id/wallets',
    'quota GET /merchants/:merchant_id/usage',
    'webhook-dispatcher GET /merchants/:merchant_id/events/:event_id',
    'webhook-dispatcher GET /merchants/:merchant_id/payments/:payment_id/deliveries',
    'webhook-dispatcher GET /merchants/:merchant_id/webhook',
    'webhook-dispatcher GET /merchants/:merchant_id/webhook/health',
  ],
  staff: [],
  owner: [
    'api-gateway GET /merchants/:merchant_id/api-keys',
    'api-gateway GET /merchants/:merchant_id/logins',
    'api-gateway POST /merchants/:merchant_id/api-keys',
    'api-gateway POST /merchants/:merchant_id/api-keys/revoke',
    'api-gateway POST /merchants/:merchant_id/logins',
    'api-gateway POST /merchants/:merchant_id/logins/:name/disable',
    'api-gateway POST /merchants/:merchant_id/logins/:name/role',
    'api-gateway POST /merchants/:merchant_id/logins/:name/sign-in-link',
    'notifier GET /merchants/:merchant_id/notices',
    'notifier POST /merchants/:merchant_id/notices/test',
    'notifier PUT /merchants/:merchant_id/notices',
    'payments POST /merchants/:merchant_id/wallets/:address/challenge',
    'payments POST /merchants/:merchant_id/wallets/:address/proof',
  ],
};

test("calls of merchants' people are about a merchant that the path names, and name the person; a viewer changes nothing", () => {
  const open = declared.filter((call) => call.forMerchants !== null);
  for (const role of merchantRoles) {
    const names = open
      .filter(({ forMerchants }) => forMerchants === role)
      .map(({ owner, method, path }) => `${owner} ${method} ${path.slice('/internal/v1'.length)}`);
    expect(names.sort()).toEqual(ofPeople[role]);
  }
  for (const call of open) {
    expect(call.path.split('/').slice(0, 5)).toEqual(['', 'internal', 'v1', 'merchants', ':merchant_id']);
    // A query parameter can't name another merchant either.
    expect(Object.keys(call.query)).not.toContain('merchant_id');
    expect([call.path, call.method === 'GET' || call.authored]).toEqual([call.path, true]);
  }
});

test('what touches money, keys or people is confirmed, in every call that a console makes', () => {
  const confirmed = declared
    .filter((call) => call.confirmed)
    .map(({ method, path }) => `${method} ${path.slice('/internal/v1'.length)}`);
  expect(confirmed.sort()).toEqual([
    'POST /merchants/:merchant_id/api-keys',
    'POST /merchants/:merchant_id/api-keys/revoke',
    'POST /merchants/:merchant_id/logins',
    'POST /merchants/:merchant_id/logins/:name/disable',
    'POST /merchants/:merchant_id/logins/:name/reset-passkeys',
    'POST /merchants/:merchant_id/logins/:name/role',
    'POST /merchants/:merchant_id/logins/:name/sign-in-link',
    'POST /merchants/:merchant_id/replace-credentials',
    'POST /merchants/:merchant_id/wallets/:address/proof',
    'POST /operators',
    'POST /operators/:name/disable',
    'POST /operators/:name/reset-passkeys',
    'POST /operators/:name/sign-in-link',
    'POST /payments/:payment_id/accept-transfer',
    'POST /wallets/:address/proof',
    'POST /wallets/:address/release',
    'PUT /merchants/:merchant_id/notices',
  ]);
});
