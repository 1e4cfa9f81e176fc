import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, request as plainRequest, type IncomingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
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

/** Connects as the dispatcher does: to the receiver's address, but with the name and certificate check of the real host. */
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
  fetch(receiver.controlUrl + path, {
    method,
    ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });

/** Sends any headers. fetch would set the host itself. */
function rawControl(method: string, path: string, headers: Record<string, string>, body?: string) {
  return new Promise<{ status: number | undefined; headers: IncomingHttpHeaders; text: string }>((resolve, reject) => {
    const sent = plainRequest(receiver.controlUrl + path, { method, headers, agent: false }, (answer) => {
      text(answer).then((told) => resolve({ status: answer.statusCode, headers: answer.headers, text: told }), reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

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

test('the certificate of one host is not valid for another', async () => {
  const [address, port] = receiver.address.split(':');
  const options = { host: address, port, servername: 'one.example', ca, agent: false };
  const reached = new Promise((resolve, reject) => {
    // The certificate is for the requested name. A client that then checks a different name must refuse it.
    request({ ...options, headers: { host: 'two.example' }, checkServerIdentity: checkFor('two.example') }, resolve)
      .on('error', reject)
      .end();
  });
  await expect(reached).rejects.toThrow("Hostname/IP does not match certificate's altnames");
});

function checkFor(name: string): typeof tls.checkServerIdentity {
  return (_, certificate) => tls.checkServerIdentity(name, certificate);
}

test('the next answer is what the test sets: a status a number of times, a reset, a delay', async () => {
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

test('received webhooks can be deleted, and a wrong control request says what is wrong', async () => {
  await deliver('forgotten.example', '{}');
  expect((await control('DELETE', '/events')).status).toBe(204);
  expect(await events('forgotten.example')).toEqual([]);
  const refused = await control('POST', '/behaviour', { colour: 'red' });
  expect(refused.status).toBe(422);
  expect(await refused.json()).toMatchObject({ detail: expect.stringContaining('colour is not known') as unknown });
  expect((await control('GET', '/nothing')).status).toBe(404);
  // Not a URL; this once ended the process.
  expect((await rawControl('GET', '//', {})).status).toBe(404);
});

test('forwards webhooks to an endpoint, and returns its answer', async () => {
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
    expect.stringContaining('is not the address of an endpoint'),
  ]);
});

describe('the control port', () => {
  const json = { 'content-type': 'application/json' };
  const page = { origin: 'https://page.example', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' };
  const actions: [method: string, path: string, body?: string][] = [
    ['POST', '/behaviour', '{"host":"victim.example","forward_to":"https://page.example/"}'],
    ['POST', '/keys', '{"key_id":"whk_1","signing_key":"whsec_page"}'],
    ['DELETE', '/behaviour'],
    ['DELETE', '/events'],
    ['GET', '/events'],
  ];
  const all = async (headers: Record<string, string>) =>
    Promise.all(actions.map(async ([method, path, body]) => (await rawControl(method, path, headers, body)).status));

  test.each<[what: string, headers: Record<string, string>]>([
    ['a page elsewhere', page],
    ['a page of an older browser', { origin: 'https://page.example' }],
    ['a form of a file or a frame without an origin', { origin: 'null' }],
    ['an image or a script of a page', { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'image' }],
    [
      'a link that a person clicked',
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-user': '?1' },
    ],
    ['a page of another port of this machine', { origin: 'http://localhost:3000', 'sec-fetch-site': 'same-site' }],
    ['a page that it would have sent itself', { 'sec-fetch-site': 'same-origin' }],
  ])('refuses %s and does nothing', async (_, headers) => {
    await deliver('victim.example', '{"kept":true}');
    expect(await all({ ...json, ...headers })).toEqual([403, 403, 403, 403, 403]);
    expect(
      (await rawControl('OPTIONS', '/behaviour', { ...page, 'access-control-request-method': 'DELETE' })).status,
    ).toBe(403);
    expect(await deliver('victim.example', '{}')).toBe(200);
    expect((await events('victim.example')).at(-2)?.raw_body).toBe('{"kept":true}');
  });

  test('answers a page that a person opens in a browser, which changes nothing', async () => {
    const typed = {
      'sec-fetch-site': 'none',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
      'sec-fetch-user': '?1',
    };
    const answer = await rawControl('GET', '/events', typed);
    expect([answer.status, answer.headers['x-content-type-options']]).toEqual([200, 'nosniff']);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    expect(await all({ ...json, ...typed })).toEqual([403, 403, 403, 403, 200]);
  });

  test.each([
    'page.example',
    'page.example:8080',
    'localhost.page.example',
    '127.0.0.1.page.example',
    '127.0.0.1@page.example',
  ])('refuses the host %j, which a name server may resolve to this machine', async (host) => {
    expect(await all({ ...json, host })).toEqual([421, 421, 421, 421, 421]);
  });

  test.each(['localhost', 'LOCALHOST:1', '127.0.0.1:9', '[::1]:9'])('accepts the host %s', async (host) => {
    expect((await rawControl('GET', '/livez', { host })).status).toBe(200);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', ''])(
    'refuses a body of the type %j, which a form can send',
    async (type) => {
      const headers: Record<string, string> = type === '' ? {} : { 'content-type': type };
      expect((await rawControl('POST', '/behaviour', headers, '{"status":500}')).status).toBe(415);
      expect(await deliver('any.example', '{}')).toBe(200);
    },
  );

  test('accepts JSON with a charset', async () => {
    const headers = { 'content-type': 'application/json; charset=utf-8' };
    expect((await rawControl('POST', '/behaviour', headers, '{"host":"a.example","status":500}')).status).toBe(204);
  });
});
