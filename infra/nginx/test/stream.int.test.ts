import { request, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newClient, startEdge, type Edge } from './support.ts';

let edge: Edge;
let sending: ServerResponse[] = [];

// Sends an export as the gateway does: of unknown length, without buffering, and in the steps of the test.
beforeAll(async () => {
  edge = await startEdge({
    answer: (_seen, response) => {
      response.writeHead(200, { 'Content-Type': 'text/csv', 'X-Accel-Buffering': 'no' });
      response.write('head\r\n');
      sending.push(response);
    },
  });
});
afterAll(() => edge.close());

/** Begins to read an export. Reads only what the test reads. */
async function open(): Promise<{ incoming: IncomingMessage; gateway: ServerResponse }> {
  sending = [];
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const options = { host: '127.0.0.1', port: edge.port, path: '/api/v1/payments/export', localAddress: newClient() };
  request({ ...options, agent: false }, resolve)
    .once('error', reject)
    .end();
  return { incoming: await promise, gateway: sending[0]! };
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of incoming) text += String(chunk);
  return text;
}

test('an export arrives while the gateway is still sending it', async () => {
  const { incoming, gateway } = await open();
  const { value } = (await incoming[Symbol.asyncIterator]().next()) as { value: Buffer };
  expect(value.toString()).toBe('head\r\n');
  expect(incoming.headers['x-accel-buffering']).toBeUndefined();
  gateway.end();
});

test('an export that the gateway aborts never looks complete', async () => {
  const { incoming, gateway } = await open();
  gateway.write('half a li');
  setImmediate(() => gateway.destroy());
  await expect(textOf(incoming)).rejects.toThrow('aborted');
});

test('an export far larger than any buffer arrives complete, and the gateway waits for the reader', async () => {
  const { incoming, gateway } = await open();
  const piece = Buffer.alloc(1024 * 1024, 'x');
  const pieces = 48;
  let written = 0;
  const write = async (): Promise<void> => {
    for (; written < pieces; written += 1) {
      if (!gateway.write(piece)) await new Promise((resolve) => gateway.once('drain', resolve));
    }
    gateway.end();
  };
  const writing = write();
  let read = 0;
  let mostAhead = 0;
  for await (const chunk of incoming) {
    await new Promise((resolve) => setImmediate(resolve));
    read += (chunk as Buffer).length;
    mostAhead = Math.max(mostAhead, written * piece.length - read);
  }
  await writing;
  expect(read).toBe('head\r\n'.length + pieces * piece.length);
  // What the system buffers for two connections. With buffering in the edge it would be everything.
  expect(mostAhead).toBeLessThan(24 * piece.length);
});
