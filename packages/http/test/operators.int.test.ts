import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { defineCall, json, type Call } from '@quittance/contracts/call.ts';
import { operatorRoles, type Access, type OperatorRole } from '@quittance/contracts/principal.ts';
import { createServiceClient } from '../src/client/client.ts';
import { issueOperatorToken } from '../src/operator-token.ts';
import { callRoute } from '../src/server/call-route.ts';
import { testLogger, testMetrics } from '@quittance/testkit/logger.ts';
import { trustOf, type KeyHolder } from '@quittance/testkit/trust.ts';
import { createCallerHeaders } from '../src/call-token.ts';
import { startServer, type TestServer } from './server-fixture.ts';

const issuer = trustOf('api-gateway');
const tokenOf = (role: OperatorRole, now?: Date): string => issueOperatorToken(issuer, { name: 'olga', role }, now);
/** The headers with which a process authenticates to `quota`. */
const callOf = (caller: KeyHolder) => createCallerHeaders(caller, trustOf(caller))('quota');

const sharedToken = 't'.repeat(32);

const accesses = ['services', 'viewer', 'support', 'admin', 'anyone'] as const satisfies Access[];
const readCall = <const Name extends Access>(access: Name) =>
  defineCall('quota', `GET /${access}`, json<{ access: string }>(), { access });
const reads = {
  services: readCall('services'),
  viewer: readCall('viewer'),
  support: readCall('support'),
  admin: readCall('admin'),
  anyone: readCall('anyone'),
};
const Write = defineCall('quota', 'POST /write', json<{ actor: string }>(), { authored: true, access: 'support' });
const Own = defineCall('quota', 'GET /merchants/:merchant_id/own', json<string>(), {
  ...{ access: 'viewer', forMerchants: 'viewer' },
});
const NotOwn = defineCall('quota', 'GET /merchants/:merchant_id/not-own', json<string>(), { access: 'viewer' });
const Called = defineCall('quota', 'GET /called', json<string>(), { callers: ['payments'], access: 'support' });
const Guarded = defineCall('quota', 'POST /anyone', json<string>());

/** The merchants that handlers were called for. */
const handled: string[] = [];
const noted = (id: string) => {
  handled.push(id);
  return 'read';
};

let server: TestServer;
let closeClient: () => void;
beforeAll(async () => {
  server = await startServer({
    name: 'quota',
    trust: { ...trustOf('quota'), sharedTokens: [sharedToken] },
    routes: [
      ...accesses.map((access) => callRoute(reads[access] as Call, () => ({ access }))),
      callRoute(Write, ({ author: { actor } }) => ({ actor })),
      callRoute(Guarded, () => 'done'),
      callRoute(Called, () => 'called'),
      ...[Own, NotOwn].map((call) => callRoute(call, ({ params }) => noted(params.merchant_id))),
    ],
  });
});
afterAll(async () => {
  closeClient();
  await server.stop();
});

const statusOf = async (path: string, headers: Record<string, string>, method = 'GET') =>
  (await fetch(`${server.url}/internal/v1${path}`, { method, headers })).status;
const statuses = (headers: Record<string, string>) =>
  Promise.all(accesses.map((access) => statusOf(`/${access}`, headers)));
const write = (headers: Record<string, string>, actor: string) =>
  fetch(`${server.url}/internal/v1/write`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ actor, reason: 'a test' }),
  });

describe('allowed calls', () => {
  test.each([
    ['viewer', [403, 200, 403, 403, 200]],
    ['support', [403, 200, 200, 403, 200]],
    ['admin', [403, 200, 200, 200, 200]],
  ] as const)(
    'by an operator of the role %s: what it may, and nothing that is for services',
    async (role, expected) => {
      expect(await statuses({ 'x-operator-token': tokenOf(role) })).toEqual(expected);
    },
  );

  test('by a service from before signing keys: everything', async () => {
    expect(await statuses({ 'x-internal-token': sharedToken })).toEqual([200, 200, 200, 200, 200]);
  });

  test('by a stranger: calls for anyone, only by their own method', async () => {
    expect(await statuses({})).toEqual([401, 401, 401, 401, 200]);
    expect(await statusOf('/anyone', {}, 'POST')).toBe(401);
    expect(await statusOf('/anyone/', {})).toBe(401);
  });

  test('with a token that has expired or is sent twice: nothing, whatever else is sent', async () => {
    const lapsed = tokenOf('admin', new Date(Date.now() - 3_600_000));
    expect(await statuses({ 'x-operator-token': lapsed })).toEqual([401, 401, 401, 401, 401]);
    const both = { 'x-operator-token': lapsed, ...callOf('ops') };
    expect(await statuses(both)).toEqual([401, 401, 401, 401, 401]);
    const token = tokenOf('admin');
    expect(await statusOf('/viewer', { 'x-operator-token': `${token}, ${token}` })).toBe(401);
  });

  test('with both tokens: the calls of the operator', async () => {
    const both = { 'x-operator-token': tokenOf('viewer'), ...callOf('ops') };
    expect(await statuses(both)).toEqual([403, 200, 403, 403, 200]);
  });

  test('the answer names the missing role', async () => {
    const answer = await write({ 'x-operator-token': tokenOf('viewer') }, 'olga');
    expect([answer.status, await answer.json()]).toEqual([
      403,
      { detail: 'This needs the role support', code: 'refused' },
    ]);
  });
});

describe('a process', () => {
  test('makes the calls that name it and no others, whatever operators may call', async () => {
    expect(await statusOf('/called', callOf('payments'))).toBe(200);
    for (const caller of ['api-gateway', 'chain-watcher', 'webhook-dispatcher', 'quota'] as const)
      expect([caller, await statusOf('/called', callOf(caller))]).toEqual([caller, 403]);
    expect(await statuses(callOf('payments'))).toEqual([403, 403, 403, 403, 200]);
  });

  test('that is ops makes the calls of every role, and none that are only for services', async () => {
    expect(await statusOf('/called', callOf('ops'))).toBe(200);
    expect(await statuses(callOf('ops'))).toEqual([403, 200, 200, 200, 200]);
  });

  test('with a token for another service is refused, and its request has no effect', async () => {
    const elsewhere = createCallerHeaders('payments', trustOf('payments'))('webhook-dispatcher');
    expect(await statusOf('/called', elsewhere)).toBe(401);
  });
});

describe("a merchant's person", () => {
  const own = `mer_${'a'.repeat(32)}`;
  const anna = issueOperatorToken(issuer, {
    name: 'anna',
    role: 'merchant',
    merchant_id: own,
    merchant_role: 'viewer',
  });
  const ask = async (path: string) => {
    const response = await fetch(`${server.url}/internal/v1${path}`, { headers: { 'x-operator-token': anna } });
    return { status: response.status, text: await response.text() };
  };

  test('makes the calls open to merchants about its own merchant, and no handler runs for another', async () => {
    handled.length = 0;
    expect((await ask(`/merchants/${own}/own`)).status).toBe(200);
    const foreign = [`mer_${'b'.repeat(32)}`, 'x', `${own}%20`, own.toUpperCase(), `..%2F${own}`];
    const answers = await Promise.all(foreign.map((id) => ask(`/merchants/${id}/own`)));
    const refused = { status: 404, text: '{"detail":"Not found","code":"not_found"}' };
    expect(answers).toEqual(foreign.map(() => refused));
    expect(handled).toEqual([own]);
  });

  test('makes no other calls, whatever operators may call, except those for anyone', async () => {
    handled.length = 0;
    expect(await statuses({ 'x-operator-token': anna })).toEqual([403, 403, 403, 403, 200]);
    const closed = { status: 403, text: '{"detail":"This is not for merchants","code":"refused"}' };
    expect(await ask(`/merchants/${own}/not-own`)).toEqual(closed);
    expect(handled).toEqual([]);
  });
});

describe('the author of a change', () => {
  test('is the operator who signed in, whatever name the request gives', async () => {
    for (const role of operatorRoles.slice(1)) {
      const answer = await write({ 'x-operator-token': tokenOf(role) }, 'ada');
      expect(await answer.json()).toEqual({ actor: '@olga' });
    }
  });

  test('is any name that the user of ops gives, but never one with the mark of operators who signed in', async () => {
    const service = callOf('ops');
    expect(await (await write(service, 'olga')).json()).toEqual({ actor: 'olga' });
    for (const actor of ['@olga', '＠olga', ' \u2800@olga', '\u3164']) {
      const forged = await write(service, actor);
      expect([forged.status, await forged.json()]).toMatchObject([422, { detail: [{ field: 'actor' }] }]);
    }
  });
});

test('a client without a key makes calls as an operator, and calls for anyone', async () => {
  const parts = { name: 'quota', baseUrl: server.url, logger: testLogger, metrics: testMetrics };
  const client = createServiceClient({ ...parts, showCaller: null });
  closeClient = () => client.close();
  const viewer = client.as(tokenOf('viewer'));
  expect(await viewer.call(reads.viewer)).toEqual({ access: 'viewer' });
  expect(await viewer.send(reads.support)).toMatchObject({ status: 403 });
  expect(await client.send(reads.viewer)).toMatchObject({ status: 401 });
  expect(await client.call(reads.anyone)).toEqual({ access: 'anyone' });
  expect((await viewer.stream(reads.viewer)).status).toBe(200);
});
