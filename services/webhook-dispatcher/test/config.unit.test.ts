import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import { ConfigurationError } from '@quittance/runtime/settings.ts';
import { readConfig } from '../src/config.ts';
import { createAuthority } from './certificates.ts';

const required = {
  PORT: '0',
  DATABASE_URL: 'postgres://localhost/quittance',
  AMQP_URL: 'amqp://localhost',
  INTERNAL_TOKEN: 'x'.repeat(32),
  WEBHOOK_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
};

describe('the settings', () => {
  test('eight retries and no local receiver, unless the settings differ', () => {
    const config = readConfig(required);
    expect(config.retryDelaysSeconds).toEqual([5, 60, 300, 1800, 7200, 28800, 72000, 144000]);
    expect(config.localReceiver).toBeNull();
    expect(config.webhookEncryptionKey).toEqual(Buffer.alloc(32, 7));
  });

  test('the retry delays can be set', () => {
    expect(readConfig({ ...required, WEBHOOK_RETRY_DELAYS_SECONDS: '1,1,2' }).retryDelaysSeconds).toEqual([1, 1, 2]);
  });

  test.each([31, 33, 16, 0])('an encryption key of %p bytes is refused, and not repeated', (bytes) => {
    const key = Buffer.alloc(bytes, 0xa7).toString('base64');
    const refused = () => readConfig({ ...required, WEBHOOK_ENCRYPTION_KEY: key });
    expect(refused).toThrow('WEBHOOK_ENCRYPTION_KEY');
    if (key !== '') expect(refused).not.toThrow(key);
  });

  test('the local receiver is on the loopback interface', () => {
    const WEBHOOK_LOCAL_RECEIVER = '127.0.0.1:8443';
    expect(readConfig({ ...required, WEBHOOK_LOCAL_RECEIVER }).localReceiver).toEqual({
      address: '127.0.0.1',
      port: 8443,
    });
    for (const elsewhere of ['10.0.0.1:8443', 'localhost:8443', '127.0.0.1', '0.0.0.0:1']) {
      expect(() => readConfig({ ...required, WEBHOOK_LOCAL_RECEIVER: elsewhere })).toThrow('WEBHOOK_LOCAL_RECEIVER');
    }
  });

  test("name servers other than the machine's are addresses, with a port or without", () => {
    expect(readConfig(required).nameServers).toEqual([]);
    for (const one of ['1.1.1.1', '127.0.0.1:5353', '[2606:4700:4700::1111]', '[::1]:5353']) {
      const list = `${one},9.9.9.9`;
      expect(readConfig({ ...required, WEBHOOK_NAME_SERVERS: list }).nameServers).toEqual([one, '9.9.9.9']);
    }
    for (const wrong of [
      'dns.example',
      '1.1.1',
      '1.1.1.1:',
      '::1',
      '1.1.1.1,',
      ',1.1.1.1',
      '1.1.1.1 9.9.9.9',
      'x:53',
    ]) {
      expect(() => readConfig({ ...required, WEBHOOK_NAME_SERVERS: wrong })).toThrow('WEBHOOK_NAME_SERVERS');
    }
  });

  test('production refuses the local receiver', () => {
    const production = { ...required, NODE_ENV: 'production' };
    expect(readConfig(production).localReceiver).toBeNull();
    expect(() => readConfig({ ...production, WEBHOOK_LOCAL_RECEIVER: '127.0.0.1:8443' })).toThrow('production');
  });

  test('there are no private targets by default, and all their problems are reported together', () => {
    expect(readConfig(required)).toMatchObject({ privateTargets: [], privateTargetsCa: null });
    const merchantId = newId('mer');
    const WEBHOOK_PRIVATE_TARGETS = `${merchantId}@shop.internal=10.255.255.1:8443`;
    const target = { merchantId, host: 'shop.internal', address: '10.255.255.1', port: 8443 };
    expect(readConfig({ ...required, WEBHOOK_PRIVATE_TARGETS }).privateTargets).toEqual([target]);

    const wrong = `${WEBHOOK_PRIVATE_TARGETS},${merchantId}@db.internal=127.0.0.1:5432`;
    const given = {
      ...required,
      WEBHOOK_PRIVATE_TARGETS: wrong,
      WEBHOOK_PRIVATE_TARGETS_CA: '/nowhere/ca.pem',
      PORT: 'x',
    };
    expect(problemsOf(given)).toEqual([
      expect.stringMatching(/^PORT: /),
      expect.stringMatching(/^WEBHOOK_PRIVATE_TARGETS: entry 2 must have an address in /),
      expect.stringMatching(/^WEBHOOK_PRIVATE_TARGETS_CA: .*\/nowhere\/ca.pem/),
    ]);
  });

  test('the authorities of private targets are certificates in PEM, also when nothing separates them', async () => {
    const certificate = (await createAuthority()).certificate.trim();
    const directory = mkdtempSync(join(tmpdir(), 'quittance-ca-'));
    const file = join(directory, 'ca.pem');
    const read = () => readConfig({ ...required, WEBHOOK_PRIVATE_TARGETS_CA: file }).privateTargetsCa;
    try {
      writeFileSync(file, `The shop's own\n${certificate}${certificate}`);
      expect(read()).toBe(`${certificate}\n${certificate}`);
      const broken = certificate.replace(/\n\w{10}/, '\n');
      for (const text of ['', 'no certificate', `${certificate}${broken}`]) {
        writeFileSync(file, text);
        expect(read).toThrow('WEBHOOK_PRIVATE_TARGETS_CA');
      }
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});

function problemsOf(env: NodeJS.ProcessEnv): readonly string[] {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
  }
  return [];
}
