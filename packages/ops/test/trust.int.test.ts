import { expect, test } from '@jest/globals';
import { isSignedBy, parsePublicKeys, signerOfKey } from '@quittance/runtime/trust.ts';
import { runOps } from './world.ts';

type Made = { signing_keys: Record<string, string>; trusted_keys: string };

const make = async (...words: string[]): Promise<Made> => {
  const { code, stdout } = await runOps(['trust', 'keys', '--json', ...words], {});
  expect(code).toBe(0);
  return JSON.parse(stdout) as Made;
};

test('trust keys makes a key for each process, and the public keys by which all know them', async () => {
  const made = await make();
  const names = ['api-gateway', 'payments', 'chain-watcher', 'webhook-dispatcher', 'quota', 'notifier', 'ops'];
  expect(Object.keys(made.signing_keys)).toEqual(names);
  const known = parsePublicKeys(made.trusted_keys);
  for (const [name, key] of Object.entries(made.signing_keys))
    expect(names.filter((other) => isSignedBy(known, other, 'text', signerOfKey(key)('text')))).toEqual([name]);
  expect((await make()).trusted_keys).not.toBe(made.trusted_keys);
});

test('trust keys --of makes one, and refuses a process that there is not', async () => {
  expect(Object.keys((await make('--of', 'payments')).signing_keys)).toEqual(['payments']);
  expect(await runOps(['trust', 'keys', '--of', 'console'], {})).toMatchObject({ code: 2, stdout: '' });
  const { stdout } = await runOps(['trust', 'keys', '--of', 'quota'], {});
  expect(stdout).toMatch(/^SIGNING_KEY.*\n {2}quota {2}[\w-]{43}\n\nTRUSTED_KEYS.*\n {2}quota=[\w-]{43}\n$/);
});
