import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startServiceProcess, type ServiceProcess } from '@quittance/testkit/service-process.ts';
import { endWindows } from '../../api-gateway/test/gateway.ts';
import { startWorld, type World } from './world.ts';

let world: World;
let merchants: ServiceProcess;
let credential: string;

beforeAll(async () => {
  world = await startWorld();
  credential = await world.credentialOf('olga', 'viewer');
  merchants = await startServiceProcess(new URL('../src/main.ts', import.meta.url), {
    ...world.settings,
    ...{ CONSOLE_AUDIENCE: 'merchants', CONSOLE_TRUSTED_PROXIES: '127.0.0.0/8' },
  });
}, 300_000);
afterAll(async () => {
  await merchants.stop();
  await world.close();
});

const statusAt = async (url: string, given: string, from?: string) =>
  (
    await world.askAt(url, 'POST', '/sign-in', from === undefined ? {} : { 'x-forwarded-for': from }, {
      credential: given,
    })
  ).status;

test("a stranger who uses up every attempt at the merchants' console keeps nobody else from signing in", async () => {
  for (let attempt = 0; attempt < 10; attempt += 1)
    expect(await statusAt(merchants.url, 'qm_wrong', `198.51.100.${attempt}, 203.0.113.9`)).toBe(401);
  expect(await statusAt(merchants.url, 'qm_wrong', '203.0.113.9')).toBe(429);
  // Another client of the same proxy, and operators at their own console.
  expect(await statusAt(merchants.url, 'qm_wrong', '203.0.113.10')).toBe(401);
  expect((await world.signIn(credential)).status).toBe(303);
});

test('a forwarded address counts from a trusted proxy alone', async () => {
  const statuses: number[] = [];
  for (let attempt = 0; attempt < 11; attempt += 1)
    statuses.push((await world.signIn('qo_wrong', { 'x-forwarded-for': `203.0.113.${attempt}` })).status);
  expect(statuses.at(-1)).toBe(429);
});

test('who signed in or was refused stands on a page for admins alone', async () => {
  await endWindows(world.services.pools.gateway, 'operator_sign_in');
  const admin = await world.browserOf(await world.credentialOf('ada', 'admin'));
  await world.signIn('qo_wrong');
  const { status, text } = await admin.get('/audit');
  expect([status, text.includes('refuse sign in'), text.includes('from 127.0.0.1')]).toEqual([200, true, true]);
  expect((await admin.get('/audit?only=changes')).text).not.toContain('refuse sign in');
  const viewer = await world.browserOf(credential);
  expect((await viewer.get('/audit')).status).toBe(403);
  expect((await viewer.get('/')).text).not.toContain('href="/audit"');
});

test('signing out ends this session, or every one of the operator', async () => {
  const credential = await world.credentialOf('rosa', 'viewer');
  const [first, second, third] = [
    await world.browserOf(credential),
    await world.browserOf(credential),
    await world.browserOf(credential),
  ];
  const formTokenOf = async ({ get }: typeof first) =>
    /name="form_token" value="([^"]+)"/.exec((await get('/')).text)?.[1] ?? '';
  const out = await first.post('/sign-out', { form_token: await formTokenOf(first) });
  expect([out.status, out.headers.get('set-cookie')]).toEqual([303, expect.stringContaining('Max-Age=0')]);
  expect([(await first.get('/')).status, (await second.get('/')).status]).toEqual([303, 200]);
  await second.post('/sign-out?everywhere=yes', { form_token: await formTokenOf(second) });
  expect((await third.get('/')).status).toBe(303);
});
