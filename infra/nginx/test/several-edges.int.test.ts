import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { nginxUser, startNginx, type Nginx } from '@quittance/local-backends/nginx.ts';
import { freePort } from '@quittance/local-backends/ports.ts';
import { stackDirectory } from '../../local/stack/directory.ts';
import { ask, flood, newClient, startEdge, type Edge } from './support.ts';

let edges: Edge[];
let directory: string;
let balancer: Nginx;
let port: number;

/**
 * The example with this test's addresses, in a minimal configuration. No IPv6 clients can connect here, so clients name themselves in
 * X-Test-Client.
 */
async function configuration(): Promise<string> {
  const example = await readFile(new URL('../edge-balancer.example.conf', import.meta.url), 'utf8');
  const user = nginxUser();
  const [first, second] = edges;
  const filled = example
    .replace('10.0.0.11:8080', `127.0.0.1:${first!.port}`)
    .replace('10.0.0.12:8080', `127.0.0.1:${second!.port}`)
    .replace('listen 80;', `listen 127.0.0.1:${port};`);
  return `${user === undefined ? '' : `user ${user.name} ${user.group};`}
    daemon off; pid "${directory}/nginx.pid"; error_log stderr notice; events {}
    http { access_log off; set_real_ip_from 127.0.0.0/8; real_ip_header X-Test-Client; client_body_temp_path "${directory}/temp/body"; proxy_temp_path "${directory}/temp/proxy";
      fastcgi_temp_path "${directory}/temp/f"; uwsgi_temp_path "${directory}/temp/u"; scgi_temp_path "${directory}/temp/s";
      ${filled} }`;
}

beforeAll(async () => {
  const trusting = () => startEdge({ trustedProxies: ['127.0.0.1'] });
  edges = await Promise.all([trusting(), trusting()]);
  directory = await mkdtemp(join(tmpdir(), 'quittance-balancer-'));
  port = await freePort();
  balancer = await startNginx({
    directory,
    toolsDirectory: stackDirectory().tools,
    logFile: join(directory, 'nginx.log'),
    configuration: await configuration(),
    ports: [port],
  });
});
afterAll(async () => {
  await balancer.stop();
  await Promise.all(edges.map((edge) => edge.close()));
  await rm(directory, { recursive: true, force: true });
});

/** Sends requests through the balancer. */
const front = (): Edge => ({ ...edges[0]!, port });
const edgesReached = (client: string) =>
  edges.filter(({ seen }) => seen.some(({ headers }) => headers['x-forwarded-for'] === client)).length;

test('behind a balancer that hashes the client, each has the limit of one edge, and both edges have clients', async () => {
  const clients = Array.from({ length: 12 }, newClient);
  for (const from of clients) {
    const rotation = { path: '/api/v1/merchant/rotate-key', method: 'POST', from };
    const { admitted, seconds } = await flood(front(), Array<typeof rotation>(9).fill(rotation));
    expect(admitted).toBeGreaterThanOrEqual(4);
    expect(admitted).toBeLessThanOrEqual(5 + seconds / 60);
    expect(edgesReached(from)).toBe(1);
  }
  for (const { seen } of edges) expect(seen.length).toBeGreaterThan(0);
});

test('all addresses of an IPv6 client, which are equal in the first 64 bits, reach the same edge', async () => {
  for (let network = 1; network <= 12; network += 1) {
    const addresses = Array.from({ length: 4 }, (_, n) => `2001:db8:0:${network}:a${n}::1`);
    const calls = addresses.map((client) => ({ path: '/api/v1/payments', headers: { 'X-Test-Client': client } }));
    expect((await flood(front(), calls)).admitted).toBe(addresses.length);
    const edgesOf = addresses.map((client) =>
      edges.findIndex(({ seen }) => seen.some(({ headers }) => headers['x-forwarded-for'] === client)),
    );
    expect(edgesOf).not.toContain(-1);
    expect(new Set(edgesOf).size).toBe(1);
  }
});

test('the clients of an edge that is down reach the other one', async () => {
  const clients = Array.from({ length: 12 }, newClient);
  await edges[1]!.close();
  const answers = await Promise.all(clients.map((from) => ask(front(), '/api/v1/payments', { from })));
  expect(answers.map(({ status }) => status)).toEqual(clients.map(() => 200));
  expect(clients.map(edgesReached)).toEqual(clients.map(() => 1));
});
