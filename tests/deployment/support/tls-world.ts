/**
 * The proxy of docker-compose.tls.yml with its own configuration, between clients and the edge, on a separate network where ports 80 and
 * 443 are free and its name resolves to it. A local authority verifies the name as public ones do (ACME). tls.test.ts runs this as a
 * program, and reads the results from stdout.
 *
 *   tls-world.ts FOLDER CADDY
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { request as plainRequest, type IncomingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { startChild, type Child } from '@quittance/local-backends/child.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { startEdge } from '../../../infra/nginx/test/support.ts';

const host = 'pay.example.com';
const authority = 'ca.example.com';

type Answer = { status: number; headers: IncomingHttpHeaders; body: string; issuer: string };
export type Found = { ordinary: Answer; forged: Answer; plain: Answer; health: Answer; down: Answer; log: string };

const authorityConfiguration = `{
	admin off
	auto_https disable_redirects
	http_port 14001
	https_port 14000
}
https://${authority} {
	tls internal
	acme_server
}
`;

const [folder = '', caddy = ''] = process.argv.slice(2);

async function start(name: string, configuration: string, env: Record<string, string>): Promise<Child> {
  const home = join(folder, name);
  await mkdir(home, { recursive: true });
  const own = { HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home };
  return startChild({
    name,
    command: caddy,
    args: ['run', '--config', configuration, '--adapter', 'caddyfile'],
    env: { PATH: process.env['PATH'], ...own, ...env },
    logFile: join(folder, `${name}.log`),
  });
}

function ask(
  url: string,
  options: { ca?: string; from?: string; headers?: Record<string, string>; method?: string },
): Promise<Answer> {
  const { from: localAddress, ...rest } = options;
  const send = url.startsWith('https:') ? request : plainRequest;
  return new Promise((resolve, reject) => {
    const sent = send(url, { ...rest, localAddress, agent: false }, (answer) => {
      const { issuer } = (answer.socket as Partial<TLSSocket>).getPeerCertificate?.() ?? {};
      void text(answer).then((body) => {
        resolve({ status: answer.statusCode!, headers: answer.headers, body, issuer: String(issuer?.CN ?? '') });
      }, reject);
    });
    // A broken connection may report the error twice.
    sent.on('error', reject).end();
  });
}

const configurationFile = join(folder, 'authority.Caddyfile');
await writeFile(configurationFile, authorityConfiguration);
const certifier = await start('authority', configurationFile, {});
const rootFile = join(folder, 'authority', 'caddy', 'pki', 'authorities', 'local', 'root.crt');
const ca = await eventually(() => readFile(rootFile, 'utf8'));
const directory = `https://${authority}:14000/acme/local/directory`;
// A proxy that finds no authority retries after a minute.
await eventually(() => ask(directory, { ca }));
// The proxy connects from this address, as everything here does.
const edge = await startEdge({ trustedProxies: ['127.0.0.1'] });
const proxy = await start('proxy', join(repositoryRoot, 'infra', 'caddy', 'Caddyfile'), {
  PUBLIC_BASE_URL: `https://${host}`,
  EDGE: `127.0.0.1:${String(edge.port)}`,
  TLS_ACME_DIRECTORY: directory,
  TLS_HTTP_PORT: '80',
  TLS_HTTPS_PORT: '443',
  SSL_CERT_FILE: rootFile,
});
try {
  const page = `https://${host}/pay/x`;
  const ordinary = await eventually(() => ask(page, { ca, from: '127.9.8.7' }));
  const forged = await ask(page, {
    ca,
    from: '127.9.8.7',
    headers: { 'X-Forwarded-For': '1.2.3.4', 'X-Forwarded-Proto': 'http' },
  });
  const plain = await ask(`http://${host}/pay/x?y=z`, {});
  const health = await ask('http://127.0.0.1:8081/', {});
  await edge.close();
  const down = await ask(`https://${host}/api/v1/payments`, { ca, method: 'POST' });
  const log = await readFile(join(folder, 'proxy.log'), 'utf8');
  process.stdout.write(JSON.stringify({ ordinary, forged, plain, health, down, log } satisfies Found));
} finally {
  await Promise.all([proxy.kill(), certifier.kill()]);
}
