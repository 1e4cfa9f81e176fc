import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startRealServices, type RealServices } from './real-services.ts';
import { runOps } from './world.ts';

let services: RealServices;
let merchant: string;
beforeAll(async () => {
  services = await startRealServices();
  merchant = (await services.merchant({ access_type: 'legacy', total_limit: 10 })).merchant_id;
});
afterAll(() => services.close());

async function credentialOf(name: string, role: string): Promise<string> {
  const added = await services.ops(['operator', 'add', name, '--role', role, '--reason', 'joined us', '--json']);
  expect(added).toMatchObject({ code: 0, stderr: '' });
  return (JSON.parse(added.stdout) as { credential: string }).credential;
}
/** The command line of somebody who has a credential and no key. */
const as = (credential: string, words: string[]) => {
  const { SIGNING_KEY: _, ...env } = services.env;
  return runOps(words, { ...env, OPERATOR_CREDENTIAL: credential, USER: 'laptop' });
};

describe('with a credential in place of a key', () => {
  test('the audit of every service names the operator', async () => {
    const olga = await credentialOf('olga', 'support');
    expect(await as(olga, ['merchant', 'pause', merchant, '--reason', 'a question'])).toMatchObject({ code: 0 });
    expect(await as(olga, ['merchant', 'profile', merchant, '--display-name', 'Café'])).toMatchObject({ code: 0 });
    const { stdout } = await as(olga, ['merchant', 'audit', merchant, '--json']);
    const { entries } = JSON.parse(stdout) as { entries: { service: string; actor: string; action: string }[] };
    expect(entries.slice(0, 2)).toMatchObject([
      { service: 'api-gateway', action: 'set_profile', actor: '@olga' },
      { service: 'quota', action: 'pause', actor: '@olga' },
    ]);
    expect(await as(olga, ['merchant', 'pause', merchant, '--actor', 'ada'])).toMatchObject({
      code: 2,
      stderr: 'With OPERATOR_CREDENTIAL the audit names the operator: leave --actor out.\n',
    });
  });

  test('a command that the role does not allow is refused by the service, with the role it needs', async () => {
    const viewer = await credentialOf('vera', 'viewer');
    expect(await as(viewer, ['merchant', 'show', merchant])).toMatchObject({ code: 0 });
    expect(await as(viewer, ['merchant', 'resume', merchant])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'quota refused (403): This needs the role support\n',
    });
    expect(await as(viewer, ['operator', 'list'])).toMatchObject({ code: 1, stderr: expect.stringMatching(/admin/) });
  });

  test('a link is made by an admin, as an address where one is known, and sessions are ended', async () => {
    await credentialOf('lena', 'viewer');
    const made = await services.ops(['operator', 'link', 'lena']);
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^address +\/sign-in\/link\/ql_[\w-]{43}$/m) });
    const { SIGNING_KEY: _, ...env } = services.env;
    const admin = { ...env, OPERATOR_CREDENTIAL: await credentialOf('rita', 'admin') };
    const { stdout } = await runOps(['operator', 'link', 'lena'], { ...admin, CONSOLE_URL: 'https://desk.example/' });
    expect(stdout).toMatch(/^address +https:\/\/desk\.example\/sign-in\/link\/ql_/m);
    const support = await credentialOf('sara', 'support');
    expect(await as(support, ['operator', 'link', 'rita'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/role admin/),
    });
    expect((await services.ops(['operator', 'sign-out', 'lena'])).stdout).toBe('0 sessions ended.\n');
  });

  test('nothing works once the operator is disabled', async () => {
    const credential = await credentialOf('ada', 'admin');
    expect((await as(credential, ['operator', 'list'])).stdout).toMatch(/ada +admin/);
    expect(await services.ops(['operator', 'disable', 'ada', '--yes', '--reason', 'left us'])).toMatchObject({
      code: 0,
    });
    expect(await as(credential, ['merchant', 'list'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'api-gateway does not accept this OPERATOR_CREDENTIAL.\n',
    });
    const { stdout } = await services.ops(['operator', 'audit']);
    expect(stdout).toMatch(/olga +disable +ada +- +left us/);
  });

  test('a name that would look like another in an audit is refused before anybody is asked', async () => {
    expect(await services.ops(['operator', 'add', 'Olga', '--role', 'viewer'])).toMatchObject({ code: 2 });
    expect(await services.ops(['operator', 'add', 'nina'])).toMatchObject({ code: 2 });
  });
});
