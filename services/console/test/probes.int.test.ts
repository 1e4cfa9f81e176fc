import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { startServiceProcess } from '@quittance/testkit/service-process.ts';
import { eventually } from '@quittance/testkit/eventually.ts';

const nowhere = 'http://127.0.0.1:1';
const settings = {
  ...{ API_GATEWAY_URL: nowhere, PAYMENTS_URL: nowhere, QUOTA_URL: nowhere, WEBHOOK_DISPATCHER_URL: nowhere },
  CHAIN_WATCHER_URL: nowhere,
};

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

test('what the platform asks is not where people come, and has a port of its own', async () => {
  const port = await freePort();
  const console = await startServiceProcess(new URL('../src/main.ts', import.meta.url), {
    ...settings,
    PROBES_PORT: String(port),
  });
  try {
    const at = async (base: string, path: string) => {
      const answer = await fetch(base + path, { redirect: 'manual' });
      return { status: answer.status, text: await answer.text() };
    };
    const probes = `http://127.0.0.1:${port}`;
    await eventually(async () => expect((await at(probes, '/readyz')).status).toBe(200));
    for (const path of ['/livez', '/readyz', '/metrics']) {
      expect([path, (await at(probes, path)).status]).toEqual([path, 200]);
      const outside = await at(console.url, path);
      expect([path, outside.status, outside.text]).toEqual([path, 404, expect.not.stringContaining('quittance')]);
    }
    expect((await at(probes, '/metrics')).text).toContain('http_request_duration_seconds');
    expect((await at(probes, '/sign-in')).status).toBe(404);
    expect((await at(console.url, '/sign-in')).status).toBe(200);
  } finally {
    expect(await console.stop()).toBe(0);
  }
});
