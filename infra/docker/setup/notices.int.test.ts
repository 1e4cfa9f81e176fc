import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { expect, test } from '@jest/globals';
import { certifyNotices } from './notices.ts';

test('each start makes a certificate that the authority of the first start has signed', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'quittance-certificate-'));
  const read = (file: string) => readFile(join(directory, file), 'utf8');
  const env = { NOTICES_HOST: 'notices.internal' };
  try {
    await certifyNotices(env, directory);
    const [authority, first] = [await read('certificates/ca.pem'), await read('certificate.pem')];
    await certifyNotices(env, directory);
    const second = new X509Certificate(await read('certificate.pem'));
    expect(second.toString()).not.toBe(first);
    expect(await read('certificates/ca.pem')).toBe(authority);
    expect(second.verify(new X509Certificate(authority).publicKey)).toBe(true);
    expect(second.checkHost('notices.internal')).toBe('notices.internal');
    expect(() => createSecureContext({ cert: second.toString() })).not.toThrow();
    createSecureContext({ cert: await read('certificate.pem'), key: await read('key.pem') });
    expect((await stat(join(directory, 'key.pem'))).mode & 0o777).toBe(0o600);
    await expect(certifyNotices({}, directory)).rejects.toThrow('NOTICES_HOST is required');
  } finally {
    await rm(directory, { recursive: true });
  }
});
