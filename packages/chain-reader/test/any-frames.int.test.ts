import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { amountOf, seedOf } from '@quittance/testkit/random-runs.ts';
import { followNewHeads } from '../src/rpc/new-heads.ts';

/** A WebSocket frame of a server. `length` may claim more than there is; null for the true length. */
type Frame = { opcode: number; fin: boolean; rsv: number; length: number | null; payload: string };

const text = (payload: string): Frame => ({ opcode: 1, fin: true, rsv: 0, length: null, payload });
const announcement = (params: unknown): string =>
  JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params });

/** What the next connection gets before anything is announced; null for a good node. */
let next: { status: number; frames: Frame[] } | null = null;
let socket: Duplex | null = null;
let connections = 0;
const heard = new Set<string>();

const server = createServer((_request, response) => void response.writeHead(404).end());
server.on('upgrade', (request, opened: Duplex) => {
  connections += 1;
  const { status, frames } = next ?? { status: 101, frames: [] };
  next = null;
  const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
  const accept = createHash('sha1').update(key).digest('base64');
  const upgrade = `Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n`;
  opened.on('error', () => undefined);
  opened.write(`HTTP/1.1 ${status} x\r\n${status === 101 ? upgrade : 'content-length: 0\r\n'}\r\n`);
  for (const frame of frames) opened.write(bytesOf(frame));
  socket = opened;
  opened.on('close', () => {
    if (socket === opened) socket = null;
  });
  opened.resume();
});

let following: { close(): void };
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const wsUrl = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  following = followNewHeads({
    network: { id: 'local', endpoints: [{ url: '', headers: {}, requestsPerSecond: null, dailyPlan: null, wsUrl }] },
    onAnnounced: (hash) => {
      if (hash !== null) heard.add(hash);
    },
    ...{ logger: testLogger, metrics: createMetrics({ service: 'test', processMetrics: false }) },
    timing: { gapMs: 0, quietMs: 60_000, answerMs: 1_000, retry: { firstMs: 1, maxMs: 5 } },
  });
});
afterAll(() => {
  following.close();
  socket?.destroy();
  server.close();
});

/** A frame without a mask; one byte for each character. */
function bytesOf({ opcode, fin, rsv, length, payload }: Frame): Buffer {
  const content = Buffer.from(payload, 'latin1');
  const size = length ?? content.length;
  const head = Buffer.alloc(10);
  head[0] = (fin ? 0x80 : 0) | (rsv << 4) | opcode;
  if (size < 126) {
    head[1] = size;
    return Buffer.concat([head.subarray(0, 2), content]);
  }
  if (size < 65_536) {
    head[1] = 126;
    head.writeUInt16BE(size, 2);
    return Buffer.concat([head.subarray(0, 4), content]);
  }
  head[1] = 127;
  head.writeBigUInt64BE(BigInt(size), 2);
  return Buffer.concat([head, content]);
}

let announced = 0;

/** Announces a block on the present connection until it is heard. */
async function announceUntilHeard(): Promise<void> {
  const hash = `0x${(announced += 1).toString(16).padStart(64, '0')}`;
  await eventually(
    () => {
      socket?.write(bytesOf(text(announcement({ result: { hash } }))));
      if (!heard.has(hash)) throw new Error('the announcement is not heard');
    },
    { timeoutMs: 30_000, intervalMs: 5 },
  );
}

const anyFrame = fc.record<Frame>({
  opcode: fc.nat({ max: 15 }),
  fin: fc.boolean(),
  rsv: fc.constantFrom(0, 0, 0, 1, 4, 7),
  length: fc.constantFrom(null, null, null, 0, 1, 125, 300_000, 2 ** 40),
  payload: fc.oneof(
    fc.string({ maxLength: 200 }),
    fc.json(),
    fc.jsonValue().map(announcement),
    fc.constantFrom('\u0003\u00e8bye', '{"method":', '"eth_subscription"}', 'x'.repeat(300_000)),
  ),
});

test('whatever frames a provider sends, the next good announcement is heard', async () => {
  const answers = fc.record({
    status: fc.constantFrom(101, 101, 101, 101, 200, 403, 503),
    frames: fc.array(anyFrame, { maxLength: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(answers, async (answer) => {
      const before = connections;
      next = answer;
      socket?.destroy();
      await eventually(() => expect(connections).toBeGreaterThan(before), { timeoutMs: 30_000, intervalMs: 1 });
      // A frame that claims more bytes than it has would swallow the announcements, so this connection ends.
      const ending = setTimeout(() => {
        if (connections === before + 1) socket?.destroy();
      }, 50);
      await announceUntilHeard();
      clearTimeout(ending);
    }),
    { numRuns: amountOf({ short: 60, long: 2_000 }), seed: seedOf(20_261_127) },
  );
}, 900_000);
