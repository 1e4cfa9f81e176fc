import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import { merchantRoles, type MerchantRole, type Principal } from '@quittance/contracts/principal.ts';
import { issueOperatorToken } from '@quittance/http/operator-token.ts';
import { testDatabase, type TestDatabase } from '@quittance/testkit/database.ts';
import { startServiceProcess, type ServiceProcess } from '@quittance/testkit/service-process.ts';
import { signingKeys, trustOf, trustSettingsOf, type KeyHolder } from '@quittance/testkit/trust.ts';
import { callsOfServices, type ServiceCall as Call } from '../../../packages/contracts/test/declared-calls.ts';
import { callHeaders, startRealServices, type RealServices } from '../../../packages/ops/test/real-services.ts';
import * as chainDatabase from '../../chain-watcher/src/migrations.ts';

/*
 * Every internal call there is, on the services themselves, by everybody there is. What each may do is worked out here from the declaration
 * alone, by other words than those that the services check by.
 */

// Five services and a console start for it, and everybody asks for everything.
jest.setTimeout(300_000);

/** Nobody answers for it: nothing is read, and every route is there. */
const network = {
  ...{ id: 'local', family: 'evm', chain_id: 31337, rpc_urls: ['http://127.0.0.1:1'], decimals: 6, confirmations: 2 },
  ...{ usdt_contract: '0xdAC17F958D2ee523a2206206994597C13D831ec7', finality: 'confirmations' },
  ...{ poll_interval_ms: 100, asleep_poll_interval_ms: 100, explorer_transaction_url: null },
};

let services: RealServices;
let watcher: ServiceProcess;
let database: TestDatabase;
let directory: string;
let urls: Record<Call['owner'], string>;
let own: string;
let foreign: string;

beforeAll(async () => {
  services = await startRealServices();
  const { env } = services;
  database = await testDatabase(chainDatabase);
  directory = await mkdtemp(join(tmpdir(), 'quittance-matrix-'));
  const NETWORKS_FILE = join(directory, 'networks.json');
  await writeFile(NETWORKS_FILE, JSON.stringify([network]));
  const settings = {
    ...trustSettingsOf('chain-watcher'),
    AMQP_URL: env.AMQP_URL,
    DATABASE_URL: database.url,
    NETWORKS_FILE,
  };
  watcher = await startServiceProcess(new URL('../../chain-watcher/src/main.ts', import.meta.url), settings);
  urls = {
    'api-gateway': env.API_GATEWAY_URL,
    payments: env.PAYMENTS_URL,
    quota: env.QUOTA_URL,
    'webhook-dispatcher': env.WEBHOOK_DISPATCHER_URL,
    'chain-watcher': watcher.url,
  };
  const merchants = [1, 2].map(() => services.merchant({ access_type: 'legacy', total_limit: 10 }));
  [own, foreign] = (await Promise.all(merchants)).map(({ merchant_id: id }) => id) as [string, string];
});
afterAll(async () => {
  await watcher.stop();
  await services.close();
  await database.drop();
  await rm(directory, { recursive: true });
});

type Answer = { status: number; text: string };

/** Asks about things that are not there, except the merchant; where there is a body, it fits no call, so that nothing is changed. */
async function ask(call: Call, headers: Record<string, string>, merchantId: string): Promise<Answer> {
  const ids: Record<string, string> = { merchant_id: merchantId, payment_id: newId('pay'), event_id: newId('evt') };
  const path = call.path.replaceAll(/:(\w+)/g, (_, name: string) => ids[name] ?? 'nothing');
  const hasBody = call.authored || call.body.schema !== null;
  const response = await fetch(`${urls[call.owner]}${path}`, {
    method: call.method,
    headers: { ...headers, ...(hasBody && { 'content-type': 'application/json' }) },
    ...(hasBody && { body: '[]' }),
  });
  return { status: response.status, text: await response.text() };
}

/** Told by status and bytes. Handlers say what was not found. */
function outcomeOf({ status, text }: Answer): 'unknown' | 'closed' | 'hidden' | 'to confirm' | 'let in' {
  if (status === 403 && text.includes('confirmation_needed')) return 'to confirm';
  if (status === 401 && /call token|operator token/.test(text)) return 'unknown';
  if (status === 403 && /This (is not for|is for services|needs the role)/.test(text)) return 'closed';
  if (text === '{"detail":"Not found","code":"not_found"}' && status === 404) return 'hidden';
  return 'let in';
}

const tokenOf = (principal: Principal, now?: Date) => ({
  'x-operator-token': issueOperatorToken(trustOf('api-gateway'), principal, now),
});
const anna = (merchant_role: MerchantRole): Principal => ({
  name: 'anna',
  role: 'merchant',
  merchant_id: own,
  merchant_role,
});
const longAgo = new Date(Date.now() - 3_600_000);
const isOpen = ({ access }: Call) => access === 'anyone';
const among =
  (...accesses: Call['access'][]) =>
  (call: Call) =>
    isOpen(call) || accesses.includes(call.access) ? 'let in' : 'closed';
/** A merchant's person is let in from the call's role on, except where a confirmation comes first. */
const asPerson = (role: MerchantRole) => (call: Call) => {
  if (isOpen(call)) return 'let in';
  if (call.forMerchants === null) return 'closed';
  return merchantRoles.indexOf(call.forMerchants) <= merchantRoles.indexOf(role)
    ? call.confirmed
      ? 'to confirm'
      : 'let in'
    : 'closed';
};
const hidden = (call: Call) => (isOpen(call) ? 'let in' : call.forMerchants === null ? 'closed' : 'hidden');

type Row = [
  who: string,
  headers: (call: Call) => Record<string, string>,
  about: () => string,
  may: (call: Call) => string,
];

const processes = Object.keys(signingKeys) as KeyHolder[];
const ofProcess = (caller: KeyHolder) => (call: Call) => {
  const may = caller === 'ops' ? call.access !== 'services' : call.callers.includes(caller);
  return isOpen(call) || may ? 'let in' : 'closed';
};
const elsewhere = ({ owner }: Call) => (owner === 'quota' ? 'payments' : 'quota');

const callers: Row[] = [
  ...processes.map((caller): Row => [caller, ({ owner }) => callHeaders(owner, caller), () => own, ofProcess(caller)]),
  ...processes.map((caller): Row => [
    `${caller}, with a token for another service,`,
    (call) => callHeaders(elsewhere(call), caller),
    () => own,
    (call) => (isOpen(call) ? 'let in' : 'unknown'),
  ]),
  [
    'api-gateway with the token that services shared once',
    () => ({ 'x-internal-token': 't'.repeat(64) }),
    () => own,
    (call) => (isOpen(call) ? 'let in' : 'unknown'),
  ],
];

const people: Row[] = [
  ...callers,
  ['a viewer', () => tokenOf({ name: 'vera', role: 'viewer' }), () => own, among('viewer')],
  ['support', () => tokenOf({ name: 'sara', role: 'support' }), () => own, among('viewer', 'support')],
  ['an admin', () => tokenOf({ name: 'ada', role: 'admin' }), () => own, among('viewer', 'support', 'admin')],
  [
    'an admin at a console',
    () => tokenOf({ name: 'ada', role: 'admin', console: true }),
    () => own,
    (call) =>
      call.confirmed && among('viewer', 'support', 'admin')(call) === 'let in'
        ? 'to confirm'
        : among('viewer', 'support', 'admin')(call),
  ],
  ...merchantRoles.map((role): Row => [
    `a merchant's ${role} about the own merchant`,
    () => tokenOf(anna(role)),
    () => own,
    asPerson(role),
  ]),
  ["a merchant's owner about another merchant", () => tokenOf(anna('owner')), () => foreign, hidden],
  ["a merchant's owner about no merchant", () => tokenOf(anna('owner')), () => newId('mer'), hidden],
  ['nobody', () => ({}), () => own, (call) => (isOpen(call) ? 'let in' : 'unknown')],
  [
    'an admin whose token has lapsed',
    () => tokenOf({ name: 'ada', role: 'admin' }, longAgo),
    () => own,
    () => 'unknown',
  ],
  ["a merchant's person whose token has lapsed", () => tokenOf(anna('owner'), longAgo), () => own, () => 'unknown'],
];

test.each(people)('%s may make the calls that are declared so, and no others', async (_who, headers, about, may) => {
  expect(callsOfServices.length).toBeGreaterThan(80);
  const found: string[] = [];
  const expected: string[] = [];
  for (const call of callsOfServices) {
    const name = `${call.owner} ${call.method} ${call.path}`;
    const answer = await ask(call, headers(call), about());
    found.push(`${name}: ${outcomeOf(answer)}`);
    expected.push(`${name}: ${may(call)}`);
  }
  expect(found).toEqual(expected);
});

test('whoever was disabled gets no token: neither by the credential, nor by a link, nor in a session', async () => {
  const login = `/merchants/${own}/logins`;
  const { internal } = services;
  const secretsOf = async (create: string, body: object, link: string) => {
    const { credential } = (await internal<{ credential: string }>('api-gateway', 'POST', create, body)).body;
    const { session } = await signedIn({ credential });
    const made = await internal<{ link: string }>('api-gateway', 'POST', link, {});
    return { credential, session, link: made.body.link };
  };
  const all = [
    await secretsOf('/operators', { name: 'gone', role: 'admin' }, '/operators/gone/sign-in-link'),
    await secretsOf(login, { name: 'gone' }, `${login}/gone/sign-in-link`),
  ];
  for (const { session } of all) expect((await post('/operator-sessions/resume', { session })).status).toBe(200);
  await internal('api-gateway', 'POST', '/operators/gone/disable', {});
  await internal('api-gateway', 'POST', `${login}/gone/disable`, {});
  for (const { credential, session, link } of all) {
    const client = '192.0.2.7';
    const statuses = [
      await post('/operator-sessions/resume', { session }),
      await post('/operator-sessions', { credential, client }),
      await post('/operator-tokens', { credential }),
      await post('/operator-sessions/by-link', { link, client }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([401, 401, 401, 401]);
    for (const secret of [credential, session, link]) {
      const call = callsOfServices.find(({ forMerchants }) => forMerchants !== null)!;
      expect(outcomeOf(await ask(call, { 'x-operator-token': secret }, own))).toBe('unknown');
    }
  }
});

async function post(path: string, body: object) {
  const response = await fetch(`${urls['api-gateway']}/internal/v1${path}`, {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
  });
  return { status: response.status, body: (await response.json()) as Record<string, string> };
}

async function signedIn({ credential }: { credential: string }): Promise<{ session: string }> {
  const { body } = await post('/operator-sessions', { credential, client: '192.0.2.8' });
  return { session: String(body['session']) };
}
