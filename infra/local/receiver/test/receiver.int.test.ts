import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import tls from 'node:tls';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ensureCertificateAuthority } from '@quittance/local-backends/certificates.ts';
import { isAlive } from '@quittance/local-backends/orphans.ts';
import { freePorts } from '@quittance/local-backends/ports.ts';
import { startReceiver } from '../process.ts';
import { temporaryDirectory } from '../../../../packages/local-backends/test/support.ts';
import type { Receiver } from '../process.ts';
import type { WebhookRecord } from '../mailbox.ts';

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let receiver: Receiver;
let ca: string;

beforeAll(async () => {
  directory = await temporaryDirectory();
  const authority = await ensureCertificateAuthority(join(directory.path, 'ca'));
  ca = await readFile(authority.certificateFile, 'utf8');
  expect(await ensureCertificateAuthority(join(directory.path, 'ca'))).toEqual(authority);
  const [tls, control] = (await freePorts(2)) as [number, number];
  receiver = await startReceiver({
    directory: join(directory.path, 'receiver'),
    logFile: join(directory.path, 'receiver.log'),
    ports: { tls, control },
    authority,
  });
});

afterAll(async () => {
  await receiver.stop();
  expect(await isAlive(receiver.pid)).toBe(false);
  await directory.remove();
});

/** As the dispatcher dials: the receiver's address, but the name and certificate check of the real host. */
function deliver(host: string, body: string, headers: Record<string, string> = {}): Promise<number | undefined> {
  const [address, port] = receiver.address.split(':');
  return new Promise((resolve, reject) => {
    const options = { host: address, port, servername: host, ca, path: '/hooks?a=1', method: 'POST', agent: false };
    const sent = request({ ...options, headers: { host, ...headers } }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

async function events(host: string): Promise<WebhookRecord[]> {
  const response = await fetch(`${receiver.eventsUrl}?host=${host}`);
  return ((await response.json()) as { events: WebhookRecord[] }).events;
}

const control = (method: string, path: string, body?: unknown) =>
  fetch(receiver.controlUrl + path, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });

test('a webhook for any host arrives over TLS that verifies for that host, and its signature is checked', async () => {
  const body = '{"event_id":"evt_1","status":"PAID"}';
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signingKey = 'whsec_test';
  const signature = createHmac('sha256', signingKey).update(`${timestamp}.${body}`).digest('hex');
  await receiver.trust('whk_1', signingKey);
  const status = await deliver('any.shop.example', body, {
    'x-service-key-id': 'whk_1',
    'x-service-event-id': 'evt_1',
    'x-service-timestamp': timestamp,
    'x-service-signature': `v1=${signature}`,
  });
  expect(status).toBe(200);
  const [event] = await events('any.shop.example');
  expect(event).toMatchObject({
    path: '/hooks?a=1',
    raw_body: body,
    body: JSON.parse(body) as unknown,
    verified: true,
  });
  expect(event?.headers['x-service-key-id']).toBe('whk_1');
});

test('the certificate of one host does not serve another', async () => {
  const [address, port] = receiver.address.split(':');
  const options = { host: address, port, servername: 'one.example', ca, agent: false };
  const reached = new Promise((resolve, reject) => {
    // The certificate is for the name asked for; a client that then checks another name must refuse it.
    request({ ...options, headers: { host: 'two.example' }, checkServerIdentity: checkFor('two.example') }, resolve)
      .on('error', reject)
      .end();
  });
  await expect(reached).rejects.toThrow("Hostname/IP does not match certificate's altnames");
});

function checkFor(name: string): typeof tls.checkServerIdentity {
  return (_, certificate) => tls.checkServerIdentity(name, certificate);
}

test('the next answer is what the test asks for: a status so many times, a reset, a delay', async () => {
  const host = 'moody.example';
  expect(
    (await control('POST', '/behaviour', { host, status: 503, times: 2, headers: { 'retry-after': '7' } })).status,
  ).toBe(204);
  expect(await deliver(host, '1')).toBe(503);
  expect(await deliver(host, '2')).toBe(503);
  expect(await deliver(host, '3')).toBe(200);
  await control('POST', '/behaviour', { host, reset: true, times: 1 });
  await expect(deliver(host, '4')).rejects.toThrow();
  const startedAt = performance.now();
  await control('POST', '/behaviour', { host, delay_ms: 100, times: 1 });
  expect(await deliver(host, '5')).toBe(200);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(99);
  expect((await events(host)).map(({ raw_body, answer }) => `${raw_body}:${answer}`)).toEqual([
    '1:503',
    '2:503',
    '3:200',
    '4:reset',
    '5:200',
  ]);
});

test('what was received can be forgotten, and a wrong control request says what is wrong', async () => {
  await deliver('forgotten.example', '{}');
  expect((await control('DELETE', '/events')).status).toBe(204);
  expect(await events('forgotten.example')).toEqual([]);
  const refused = await control('POST', '/behaviour', { colour: 'red' });
  expect(refused.status).toBe(422);
  expect(await refused.json()).toMatchObject({ detail: expect.stringContaining('colour is not known') as unknown });
  expect((await control('GET', '/nothing')).status).toBe(404);
});

test('hands webhooks on to somebody’s own endpoint, and answers as that does', async () => {
  const got: { headers: IncomingHttpHeaders; body: string }[] = [];
  const own = createServer((incoming, response) => {
    void text(incoming).then((body) => {
      got.push({ headers: incoming.headers, body });
      response.writeHead(503, { 'retry-after': '7' }).end('not now');
    });
  });
  own.listen(0, '127.0.0.1');
  await once(own, 'listening');
  const { port } = own.address() as AddressInfo;
  const forwarded = 'forwarded.example';
  const endpoint = `http://127.0.0.1:${port}/webhook`;
  expect((await control('POST', '/behaviour', { host: forwarded, forward_to: endpoint })).status).toBe(204);

  const body = '{ "event_id":"evt_ä",\t"status": "PAID" }';
  const headers = { 'x-service-event-id': 'evt_1', 'content-type': 'application/json' };
  expect(await deliver(forwarded, body, headers)).toBe(503);
  expect(got).toEqual([{ headers: expect.objectContaining(headers), body }]);
  own.closeAllConnections();
  own.close();
  await once(own, 'close');
  await expect(deliver(forwarded, body)).rejects.toThrow(/ECONNRESET|socket hang up/);
  const seen = await events(forwarded);
  expect(seen.map(({ answer }) => answer)).toEqual(['503', 'reset: ECONNREFUSED']);
  expect(seen[1]!.number).toBeGreaterThan(seen[0]!.number);

  const refused = await control('POST', '/behaviour', { forward_to: 'localhost:3000' });
  expect([refused.status, await refused.text()]).toEqual([
    422,
    expect.stringContaining('is no address of an endpoint'),
  ]);
});
