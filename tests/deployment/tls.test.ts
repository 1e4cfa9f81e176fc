import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { caddyProgram } from '@quittance/local-backends/caddy.ts';
import { stackDirectory } from '@quittance/local-stack/stack/directory.ts';
import { containment } from './support/containment.ts';
import type { Found } from './support/tls-world.ts';

const limits = containment();
if ('impossible' in limits) {
  console.warn(
    `SKIPPED: the proxy of docker-compose.tls.yml can be tested only on a separate network: ${limits.impossible}`,
  );
}
const describeShutIn = 'impossible' in limits ? describe.skip : describe;

/** Inside the network: starts loopback, and makes both names resolve to it. */
const inside = 'ip link set lo up && mount --bind "$1/hosts" /etc/hosts && shift && exec "$@"';

describeShutIn('the proxy of docker-compose.tls.yml', () => {
  let found: Found;
  let folder: string;

  beforeAll(async () => {
    if ('impossible' in limits) return;
    const caddy = await caddyProgram(stackDirectory().tools);
    folder = await mkdtemp(join(tmpdir(), 'quittance-tls-'));
    await writeFile(join(folder, 'hosts'), '127.0.0.1 localhost pay.example.com ca.example.com\n');
    const world = join(import.meta.dirname, 'support', 'tls-world.ts');
    const [command, ...words] = [...limits.enter, '--net', 'sh', '-c', inside, 'inside', folder];
    const child = spawn(command, [...words, process.execPath, world, folder, caddy]);
    const [out, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    if (code !== 0) throw new Error(`the proxy could not be tried in ${folder}:\n${errors}`);
    found = JSON.parse(out) as Found;
  }, 300_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('gets its certificate by itself from an authority that verifies the name', () => {
    expect(found.ordinary).toMatchObject({ status: 200, issuer: expect.stringContaining('Intermediate') });
    expect(found.log).toContain('certificate obtained successfully');
  });

  test("passes the client's own address to the edge, and that it came by https", () => {
    const seen = JSON.parse(found.ordinary.body) as { headers: Record<string, string> };
    expect(seen.headers).toMatchObject({
      host: 'pay.example.com',
      'x-forwarded-for': '127.9.8.7',
      'x-forwarded-proto': 'https',
    });
    expect(found.ordinary.headers['strict-transport-security']).toBe('max-age=31536000');
  });

  test('ignores what a client claims about either', () => {
    const seen = JSON.parse(found.forged.body) as { headers: Record<string, string> };
    expect(seen.headers).toMatchObject({ 'x-forwarded-for': '127.9.8.7', 'x-forwarded-proto': 'https' });
  });

  test('redirects http to https, at the published port', () => {
    expect([found.plain.status, found.plain.headers.location]).toEqual([308, 'https://pay.example.com/pay/x?y=z']);
  });

  test('announces no internal port, such as one for HTTP/3', () => {
    expect(found.ordinary.headers['alt-svc']).toBeUndefined();
  });

  test('answers 503 in the API’s format when the edge is down, and still reports that it runs', () => {
    expect(found.down).toMatchObject({
      status: 503,
      body: '{"detail":"Service temporarily unavailable","code":"unavailable"}',
    });
    expect(found.down.headers['content-type']).toBe('application/json');
    expect(found.health.status).toBe(200);
  });
});
