import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { followNewHeads } from '@quittance/chain-reader/rpc/new-heads.ts';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { servePart } from '../part.ts';
import { isObject, textOf, wholeNumber, type Json, type Verdict } from '../target.ts';

/** What the one connection to come is answered before it is announced something; null for a good node. */
let next: { status: number; frames: Json[] } | null = null;
let socket: Duplex | null = null;
let connections = 0;
const heard = new Set<string>();

const server = createServer((_request, response) => void response.writeHead(404).end());
server.on('upgrade', (request, opened: Duplex) => {
  connections += 1;
  opened.on('error', () => undefined);
  const spoilt = next;
  next = null;
  const status = spoilt?.status ?? 101;
  const accept = createHash('sha1').update(
    `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`,
  );
  const upgrade = `Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept.digest('base64')}\r\n`;
  opened.write(`HTTP/1.1 ${status} x\r\n${status === 101 ? upgrade : 'content-length: 0\r\n'}\r\n`);
  for (const frame of spoilt?.frames ?? []) if (isObject(frame)) opened.write(frameBytes(frame));
  // Only one that is open can be announced something; the one before it has had its time.
  socket = opened;
  opened.on('close', () => {
    if (socket === opened) socket = null;
  });
  opened.resume();
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

const following = followNewHeads({
  network: {
    id: 'local',
    endpoints: [
      {
        ...{ url: '', headers: {}, requestsPerSecond: null, dailyPlan: null },
        wsUrl: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      },
    ],
  },
  onAnnounced: (hash) => {
    if (hash !== null) heard.add(hash);
  },
  logger: testLogger,
  metrics: createMetrics({ service: 'fuzz', processMetrics: false }),
  timing: { gapMs: 0, quietMs: 60_000, answerMs: 1_000, retry: { firstMs: 1, maxMs: 5 } },
});

let announcements = 0;

/** Announces a block until it is heard, on whatever connection there is by then. */
async function announce(): Promise<void> {
  const hash = `0x${(announcements += 1).toString(16).padStart(64, '0')}`;
  const payload = JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params: { result: { hash } } });
  await eventually(
    () => {
      socket?.write(frameBytes({ opcode: 1, fin: true, rsv: 0, length: null, payload }));
      if (!heard.has(hash)) throw new Error('it is not heard');
    },
    { timeoutMs: 30_000, intervalMs: 5 },
  );
  heard.clear();
}

async function put(input: Json): Promise<Verdict> {
  if (!isObject(input) || !Array.isArray(input['frames'])) return { problems: [], outcome: 'no frames' };
  const before = connections;
  next = { status: wholeNumber(input['status'], 101), frames: input['frames'] };
  socket?.destroy();
  await eventually(
    () => {
      if (connections === before) throw new Error('it has not connected');
    },
    { timeoutMs: 30_000, intervalMs: 1 },
  );
  // A frame that promises more than it has would swallow what comes after it.
  const closing = setTimeout(() => {
    if (connections === before + 1) socket?.destroy();
  }, 50);
  await announce();
  clearTimeout(closing);
  return { problems: [], outcome: connections === before + 1 ? 'stayed' : 'connected again' };
}

/** One byte a character, or the JSON of anything that is no text; a server's frames have no mask. */
function frameBytes({ opcode, fin, rsv, length, payload }: { [name: string]: Json }): Buffer {
  const content = Buffer.from(textOf(payload), 'latin1');
  const size = Math.max(0, wholeNumber(length, content.length));
  const head = Buffer.alloc(10);
  head[0] = (fin === false ? 0 : 0x80) | ((wholeNumber(rsv, 0) & 7) << 4) | (wholeNumber(opcode, 1) & 15);
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

await servePart({
  put,
  async check() {
    await announce();
    return [];
  },
  async close() {
    following.close();
    socket?.destroy();
    server.close();
  },
});
