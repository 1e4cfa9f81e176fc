import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { startRealServices, type RealServices } from './real-services.ts';
import { runOps } from './world.ts';

jest.setTimeout(3_600_000);

let services: RealServices;
let merchant: string;
beforeAll(async () => {
  services = await startRealServices();
  merchant = (await services.merchant({ access_type: 'legacy', total_limit: 10 })).merchant_id;
});
afterAll(() => services.close());

const login = (...words: string[]) => services.ops(['merchant', 'login', ...words]);
const bySupport = async (words: string[]) => {
  const added = await services.ops(['operator', 'add', 'sara', '--role', 'support', '--json']);
  const { credential } = JSON.parse(added.stdout) as { credential: string };
  const { SIGNING_KEY: _, ...env } = services.env;
  return runOps(words, { ...env, OPERATOR_CREDENTIAL: credential, CONSOLE_URL: 'https://desk.example/' });
};

test('support gives a login, shows it without its credential, makes a link, and takes it back; the audit has it all', async () => {
  const added = await bySupport(['merchant', 'login', 'add', merchant, 'anna', '--reason', 'their bookkeeper']);
  expect(added).toMatchObject({ code: 0, stdout: expect.stringMatching(/^credential +qm_[\w-]{43}$/m) });
  const { stdout: listed } = await login('list', merchant);
  expect(listed).toMatch(/anna/);
  expect(listed).not.toMatch(/qm_/);
  const made = await login('link', merchant, 'anna');
  expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^address +\/sign-in\/link\/ql_[\w-]{43}$/m) });
  expect(await login('add', merchant, 'anna')).toMatchObject({ code: 1, stderr: expect.stringMatching(/already/) });
  // Without a terminal it asks for --yes.
  expect(await login('disable', merchant, 'anna')).toMatchObject({ code: 2 });
  expect(await login('disable', merchant, 'anna', '--yes', '--reason', 'left them')).toMatchObject({ code: 0 });
  expect(await login('link', merchant, 'anna')).toMatchObject({ code: 1 });
  expect(await login('add', merchant, 'Anna')).toMatchObject({ code: 2 });
  const { stdout } = await services.ops(['merchant', 'audit', merchant]);
  for (const line of [
    /@sara +add login .*their bookkeeper/,
    /olga +make sign in link/,
    /olga +disable login .*left them/,
  ])
    expect(stdout).toMatch(line);
});
