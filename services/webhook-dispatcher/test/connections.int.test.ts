import tls from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import { createConnections, type Connections } from '../src/sending/connections.ts';
import { createConnector, openTls, type Dial } from '../src/sending/dial.ts';
import { SendError } from '../src/sending/errors.ts';
import { exchange } from '../src/sending/exchange.ts';
import { createAuthority } from './certificates.ts';
import { say, startRawReceiver, type RawReceiver } from './raw-receiver.ts';

let receiver: RawReceiver;
/** Our open connections, of all tests. */
const open = new Set<TLSSocket>();

beforeAll(async () => {
  const authority = await createAuthority();
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), authority.certificate]);
  receiver = await startRawReceiver(authority);
  // As a receiver announces that keeps connections as long as possible.
  receiver.behave(say('HTTP/1.1 200 OK', 'keep-alive: timeout=600', 'content-length: 0', '', ''));
});
afterAll(() => receiver.close());

const connector = createConnector({
  resolve: async () => ['8.8.8.8'],
  dial: async ({ host, timeoutMs }) => {
    if (host.startsWith('down')) throw new Error('nobody there');
    const socket = await openTls({ address: '127.0.0.1', port: receiver.port, host, timeoutMs });
    open.add(socket.once('close', () => open.delete(socket)));
    return socket;
  },
});
const limits = { timeoutMs: 15_000, bodyTimeoutMs: 2_000 };
const post = (connections: Connections, host: string) =>
  exchange(connections, { host: `${host}.raw.io`, path: '/', headers: {}, body: Buffer.from('{}') }, limits);

test('a connection is used again, even by the very next request', async () => {
  const connections = createConnections({ connector });
  const before = receiver.connections();
  for (let n = 0; n < 5; n += 1) {
    expect(await post(connections, 'again')).toMatchObject({ answer: { status: 200 }, remoteAddress: '127.0.0.1' });
  }
  expect(receiver.connections()).toBe(before + 1);
  await connections.close();
});

test('idle connections to all hosts are limited, the longest idle ones close first, and no request fails because of it', async () => {
  const connections = createConnections({ connector, maxIdle: 5 });
  const before = receiver.connections();
  for (let round = 0; round < 3; round += 1) {
    const hosts = Array.from({ length: 40 }, (_, n) => `many${n}`);
    const results = await Promise.all(hosts.map((host) => post(connections, host)));
    expect(results.map(({ answer, error }) => answer?.status ?? error)).toEqual(hosts.map(() => 200));
    await eventually(() => expect(open.size).toBe(5));
  }
  expect(receiver.connections()).toBeGreaterThan(before + 40);

  // A connection that is used at every step stays open while others come and go.
  await post(connections, 'busy');
  const steps = receiver.connections();
  for (let n = 0; n < 20; n += 1) {
    await post(connections, `passing${n}`);
    await post(connections, 'busy');
  }
  expect(receiver.connections()).toBe(steps + 20);
  await connections.close();
  await eventually(() => expect(open.size).toBe(0));
});

test.each<[string, Dial]>([
  ['refuses IPv6 at once', async ({ address }) => Promise.reject(new SendError('network_unreachable', address))],
  [
    'swallows IPv6',
    ({ lost }) => new Promise((_, reject) => lost?.addEventListener('abort', () => reject(new Error('lost')))),
  ],
])('a host with eight IPv6 and two IPv4 addresses is reached from a machine that %s', async (_how, dialSix) => {
  const dialled: string[] = [];
  const six = Array.from({ length: 8 }, (_, n) => `2001:4860:4860::${n + 1}`);
  const dual = createConnector({
    resolve: async () => [...six, '8.8.8.8', '8.8.4.4'],
    dial: (target) => {
      dialled.push(target.address);
      if (target.address.includes(':')) return dialSix(target);
      return openTls({ ...target, address: '127.0.0.1', port: receiver.port });
    },
  });
  const connections = createConnections({ connector: dual });
  expect(await post(connections, 'dual')).toMatchObject({ answer: { status: 200 } });
  // If connecting takes a busy machine a while, other addresses are tried meanwhile.
  expect(dialled.slice(0, 2)).toEqual([six[0], '8.8.8.8']);
  await connections.close();
});

test('an old connection is not used again', async () => {
  const connections = createConnections({ connector, maxAgeMs: 20 });
  const before = receiver.connections();
  await post(connections, 'old');
  await new Promise((resolve) => setTimeout(resolve, 50));
  await post(connections, 'old');
  expect(receiver.connections()).toBe(before + 2);
  await connections.close();
});

test('connections that cannot be opened leave nothing behind', async () => {
  const connections = createConnections({ connector });
  const results = await Promise.all(Array.from({ length: 8 }, () => post(connections, 'down')));
  expect(results.every(({ answer, error }) => answer === null && error instanceof Error)).toBe(true);
  // It would wait for a request that is still counted.
  await connections.close();
});

test('what a receiver sends on an idle connection is never taken for an answer', async () => {
  const connections = createConnections({ connector });
  const before = receiver.connections();
  receiver.behave((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    setImmediate(() => socket.write('HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n'));
  });
  await post(connections, 'talks');
  await eventually(() => expect(open.size).toBe(0));
  expect(await post(connections, 'talks')).toMatchObject({ answer: { status: 200 } });
  expect(receiver.connections()).toBe(before + 2);
  await connections.close();
});
