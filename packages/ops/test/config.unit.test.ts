import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { readConfig } from '../src/config.ts';

const directory = mkdtempSync(join(tmpdir(), 'quittance-ops-'));
afterAll(() => rmSync(directory, { recursive: true }));

const file = join(directory, 'stack.json');
writeFileSync(
  file,
  JSON.stringify({
    console_url: 'http://127.0.0.1:8086',
    gateway_url: 'http://127.0.0.1:8081',
    services: { quota: { url: 'http://127.0.0.1:8085', replicas: [] } },
    signing_keys: { ops: 'key of the stack' },
    amqp_url: 'amqp://guest:guest@127.0.0.1:5672/quittance',
  }),
);

describe('settings', () => {
  test('a checkout brings those of its running stack', () => {
    expect(readConfig({ USER: 'olga' }, file)).toEqual({
      urls: {
        'api-gateway': 'http://127.0.0.1:8081',
        payments: '',
        quota: 'http://127.0.0.1:8085',
        'webhook-dispatcher': '',
        'chain-watcher': '',
      },
      signingKey: 'key of the stack',
      sharedToken: '',
      operatorCredential: '',
      consoleUrl: 'http://127.0.0.1:8086',
      amqpUrl: 'amqp://guest:guest@127.0.0.1:5672/quittance',
      user: 'olga',
      networksFile: expect.stringMatching(/infra.networks\.json$/),
      environment: { USER: 'olga' },
    });
  });

  test('the environment goes before the stack, an empty variable does not', () => {
    const config = readConfig({ QUOTA_URL: 'http://quota.internal', SIGNING_KEY: '' }, file);
    expect(config.urls.quota).toBe('http://quota.internal');
    expect(config.signingKey).toBe('key of the stack');
  });

  test('LOCAL_DIRECTORY says where the stack is, and an empty one says nothing', () => {
    expect(readConfig({ LOCAL_DIRECTORY: directory }).signingKey).toBe('key of the stack');
    const before = process.cwd();
    process.chdir(directory);
    try {
      expect(readConfig({ LOCAL_DIRECTORY: '' }).signingKey).not.toBe('key of the stack');
    } finally {
      process.chdir(before);
    }
  });

  test('without a stack only the environment counts', () => {
    const config = readConfig({ PAYMENTS_URL: 'https://payments.internal' }, join(directory, 'none.json'));
    expect(config.urls).toMatchObject({ payments: 'https://payments.internal', quota: '' });
  });

  test('a wrong address and a damaged stack file are wrong use, and say what is wrong', () => {
    expect(() => readConfig({ QUOTA_URL: 'quota:8080' }, file)).toThrow(/QUOTA_URL/);
    const damaged = join(directory, 'damaged.json');
    writeFileSync(damaged, '{');
    expect(() => readConfig({}, damaged)).toThrow(/damaged\.json cannot be read/);
  });
});
