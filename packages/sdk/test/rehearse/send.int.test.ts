import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { send } from '../../src/rehearse/send.ts';

/** Answers a request with these bytes, and leaves the connection open or closes it. */
async function answerTo(answer: string, end: (socket: Socket) => void = () => undefined) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write(answer, () => end(socket)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    const request = { method: 'POST', headers: { 'content-length': '2' }, body: '{}' };
    return await send(new URL(`http://127.0.0.1:${port}/`), request, 15_000);
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
}

const lines = (...all: string[]) => all.join('\r\n');

test.each([
  ['an answer', lines('HTTP/1.1 204 No Content', '', '')],
  ['"continue" first', lines('HTTP/1.1 100 Continue', '', 'HTTP/1.1 204 No Content', '', '')],
  ['early hints first', lines('HTTP/1.1 103 Early Hints', 'link: </a>', '', 'HTTP/1.1 204 No Content', '', '')],
  ['lines without a carriage return', 'HTTP/1.1 204 No Content\n\n'],
  ['20 KB of headers', lines('HTTP/1.1 204 No Content', `x: ${'x'.repeat(20_000)}`, '', '')],
  ['two lengths', lines('HTTP/1.1 204 No Content', 'content-length: 0', 'content-length: 1', '', '')],
  ['a malformed header', lines('HTTP/1.1 204 No Content', 'no colon', '', '')],
  ['headers that never end', lines('HTTP/1.1 204 No Content', 'x: 1', '')],
])('the status line decides about %s', async (_what, answer) => {
  expect(await answerTo(answer)).toMatchObject({ status: 204, problem: null });
});

test.each([
  ['a connection that ends', lines('HTTP/1.1 100 Continue', '', ''), 'ECONNRESET'],
  ['what is no HTTP', lines('SSH-2.0-OpenSSH', '', ''), 'HPE_INVALID_CONSTANT'],
])('%s is no answer', async (_what, answer, problem) => {
  expect(await answerTo(answer, (socket) => socket.end())).toMatchObject({ status: null, problem });
});
