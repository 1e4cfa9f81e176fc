import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { faultProxy } from '../src/fault-proxy.ts';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { FaultProxy } from '../src/fault-proxy.ts';

let echo: Server;
let proxy: FaultProxy;

beforeAll(async () => {
  echo = createServer((socket) => socket.on('error', () => undefined).pipe(socket)).listen(0, '127.0.0.1');
  await once(echo, 'listening');
  proxy = await faultProxy({ target: `amqp://user:password@127.0.0.1:${(echo.address() as AddressInfo).port}/vhost` });
});

afterAll(async () => {
  await proxy.close();
  echo.close();
});

async function client(port = proxy.port): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.setNoDelay(true).on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** Unlike `once`, resolves after an error too. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

async function echoOf(socket: Socket, text: string): Promise<string> {
  socket.write(text);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  return answer.toString();
}

test('bytes pass in both directions, and the URL keeps everything except the address', async () => {
  const socket = await client();
  expect(await echoOf(socket, 'hello')).toBe('hello');
  expect(proxy.url).toBe(`amqp://user:password@127.0.0.1:${proxy.port}/vhost`);
  socket.destroy();
});

test('a cut ends open connections and new ones, until it is restored', async () => {
  const open = await client();
  expect(await echoOf(open, 'x')).toBe('x');
  const ended = closed(open);
  proxy.cut();
  await ended;
  const refused = connect(proxy.port, '127.0.0.1');
  refused.on('error', () => undefined);
  await closed(refused);
  proxy.restore();
  const again = await client();
  expect(await echoOf(again, 'y')).toBe('y');
  again.destroy();
});

test('a delay holds bytes back and keeps their order', async () => {
  const socket = await client();
  proxy.delay(50);
  const startedAt = performance.now();
  socket.write('1');
  let answer = '';
  while (answer.length < 2) {
    if (answer === '') socket.write('2');
    answer += String(((await once(socket, 'data')) as [Buffer])[0]);
  }
  // Each of the two delays may end a millisecond early, because timers count whole milliseconds.
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(98);
  expect(answer).toMatch(/^12/);
  proxy.restore();
  socket.destroy();
});

test('a delay applies to each chunk, however many follow each other', async () => {
  const slower = await faultProxy({ target: `127.0.0.1:${(echo.address() as AddressInfo).port}` });
  const [many, one] = [await client(), await client(slower.port)];
  slower.delay(1_000);
  const last = once(one, 'data');
  one.write('x');
  proxy.delay(100);
  let answered = 0;
  many.on('data', (chunk: Buffer) => (answered += chunk.length));
  for (let sent = 0; sent < 30; sent += 1) {
    many.write('y');
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
  await last;
  proxy.restore();
  for (const socket of [many, one]) socket.destroy();
  await slower.close();
  // One after the other they would have taken six seconds, and the slower one two.
  expect(answered).toBe(30);
});

test('a stall passes nothing and closes nothing; bytes sent during it arrive afterwards', async () => {
  const socket = await client();
  expect(await echoOf(socket, 'before')).toBe('before');
  proxy.stall();
  let arrived = '';
  socket.on('data', (chunk: Buffer) => (arrived += chunk.toString()));
  socket.write('during');
  // Another connection is still accepted, and equally silent.
  const other = await client();
  other.write('other');
  expect(arrived).toBe('');
  const answer = once(other, 'data');
  proxy.restore();
  expect(String(((await answer) as [Buffer])[0])).toBe('other');
  while (arrived === '') await once(socket, 'data');
  expect(arrived).toBe('during');
  socket.destroy();
  other.destroy();
});

test('connections go to each target in turn, and one that refuses is skipped', async () => {
  const named = async (name: string): Promise<Server> => {
    const server = createServer((socket) => socket.on('error', () => undefined).end(name)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };
  const servers = [await named('one'), await named('two'), await named('gone')];
  const addresses = servers.map((server) => `127.0.0.1:${(server.address() as AddressInfo).port}`);
  servers.pop()!.close();
  const balancer = await faultProxy({ target: addresses[0]! });
  const answer = async (): Promise<string> =>
    String(((await once(await client(balancer.port), 'data')) as [Buffer])[0]);
  expect([await answer(), await answer()]).toEqual(['one', 'one']);
  balancer.lead(...addresses);
  const answers = new Set([await answer(), await answer(), await answer()]);
  expect([...answers].sort()).toEqual(['one', 'two']);
  balancer.lead(addresses[2]!);
  await closed(await client(balancer.port));
  await balancer.close();
  for (const server of servers) server.close();
});
