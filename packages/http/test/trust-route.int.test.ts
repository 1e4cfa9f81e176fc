import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { ReadTrust, type LegacyKind } from '@quittance/contracts/http/trust.ts';
import { sharedTrust, trustOf, type KeyHolder } from '@quittance/testkit/trust.ts';
import { createCallerHeaders, SHARED_TOKEN_HEADER } from '../src/call-token.ts';
import { issueOperatorToken, OPERATOR_TOKEN_HEADER } from '../src/operator-token.ts';
import { trustRoute } from '../src/server/internal-routes.ts';
import { startServer, type TestServer } from './server-fixture.ts';

const sharedToken = 't'.repeat(32);
const { sharedTokens } = sharedTrust(sharedToken);
/** In the middle of the upgrade: with keys, and with the tokens that they replace. */
const both = (name: KeyHolder) => ({ ...trustOf(name), sharedTokens });

const accepted: LegacyKind[] = [];
const record = {
  accepted: (kind: LegacyKind) => void accepted.push(kind),
  read: () => Promise.resolve({ watchedSeconds: 7, legacy: [] }),
};
const servers: TestServer[] = [];
const startQuota = async (trust: ReturnType<typeof trustOf>): Promise<TestServer> => {
  const server = await startServer({
    name: 'quota',
    trust,
    legacy: record,
    routes: [trustRoute('quota', trust, record)],
  });
  servers.push(server);
  return server;
};
let url: string;
beforeAll(async () => {
  ({ url } = await startQuota(both('quota')));
});
beforeEach(() => void accepted.splice(0));
afterAll(() => Promise.all(servers.map((server) => server.stop())));

const ask = (headers: Record<string, string>, of = url) => fetch(`${of}${ReadTrust.quota.path}`, { headers });
const operatorToken = (trust: Parameters<typeof issueOperatorToken>[0]) => ({
  [OPERATOR_TOKEN_HEADER]: issueOperatorToken(trust, { name: 'olga', role: 'support' }),
});

test.each<[string, () => Record<string, string>, LegacyKind[]]>([
  ['a call token beside the shared one', () => createCallerHeaders('ops', both('ops'))('quota'), []],
  ['the shared token alone', () => ({ [SHARED_TOKEN_HEADER]: sharedToken }), ['shared_token']],
  [
    'the shared token beside a call token for somebody else',
    () => createCallerHeaders('ops', both('ops'))('payments'),
    ['shared_token'],
  ],
  ["an operator's token that the gateway's key signed", () => operatorToken(both('api-gateway')), []],
  [
    "an operator's token that only the shared token signed",
    () => operatorToken({ signer: null, sharedTokens }),
    ['operator_token'],
  ],
])('%s is accepted, and recorded if it needed the shared token', async (_what, headers, noted) => {
  expect((await ask(headers())).status).toBe(200);
  expect(accepted).toEqual(noted);
});

test('refused requests are not recorded', async () => {
  expect((await ask({ [SHARED_TOKEN_HEADER]: 'u'.repeat(32) })).status).toBe(401);
  expect((await ask({ [OPERATOR_TOKEN_HEADER]: 'a.b.c' })).status).toBe(401);
  expect(accepted).toEqual([]);
});

test('a service says whether it has a key, whether it accepts the shared token, and how long it has recorded', async () => {
  const headers = { [SHARED_TOKEN_HEADER]: sharedToken };
  const stateOf = async (server: TestServer, shown: Record<string, string>) => (await ask(shown, server.url)).json();
  expect(await (await ask(headers)).json()).toEqual({
    ...{ has_key: true, accepts_internal_token: true, watched_seconds: 7, legacy: [] },
  });
  expect(await stateOf(await startQuota(sharedTrust(sharedToken)), headers)).toMatchObject({ has_key: false });
  const done = await startQuota(trustOf('quota'));
  const call = createCallerHeaders('ops', trustOf('ops'))('quota');
  expect(await stateOf(done, call)).toMatchObject({ accepts_internal_token: false, watched_seconds: null });
});

test('other services and viewers may not ask', async () => {
  expect((await ask(createCallerHeaders('payments', both('payments'))('quota'))).status).toBe(403);
  const token = issueOperatorToken(both('api-gateway'), { name: 'vera', role: 'viewer' });
  expect((await ask({ [OPERATOR_TOKEN_HEADER]: token })).status).toBe(403);
});
