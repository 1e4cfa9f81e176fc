import { createHash } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

/** The socket of a WebSocket client that has subscribed. */
export type Subscriber = { path: string; say(text: string): void };

/** Takes WebSocket connections and grants every request that comes over them, as an endpoint does for a subscription. */
export function acceptSubscribers(server: Server): Set<Subscriber> {
  const subscribers = new Set<Subscriber>();
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
        `Sec-WebSocket-Accept: ${acceptKey(request.headers['sec-websocket-key'] ?? '')}\r\n\r\n`,
    );
    const subscriber = { path: request.url ?? '/', say: (text: string) => void socket.write(frame(text)) };
    subscribers.add(subscriber);
    let rest = Buffer.alloc(0);
    socket.on('data', (bytes: Buffer) => {
      rest = Buffer.concat([rest, bytes]);
      for (let read = readFrame(rest); read !== null; read = readFrame(rest)) {
        rest = rest.subarray(read.length);
        if (read.text === null) continue;
        const { id } = JSON.parse(read.text) as { id: number };
        subscriber.say(JSON.stringify({ jsonrpc: '2.0', id, result: '0x1' }));
      }
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => subscribers.delete(subscriber));
  });
  return subscribers;
}

// Source: RFC 6455, 4.2.2 and 5.2.

const acceptKey = (key: string): string =>
  createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');

function frame(text: string): Buffer {
  const payload = Buffer.from(text);
  const head = Buffer.alloc(10);
  head.writeUInt8(0x81, 0);
  if (payload.length < 126) {
    head.writeUInt8(payload.length, 1);
    return Buffer.concat([head.subarray(0, 2), payload]);
  }
  head.writeUInt8(127, 1);
  head.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([head, payload]);
}

/** A client's frame, which is masked and short. @returns null while it is not whole; no text for what is no text. */
function readFrame(bytes: Buffer): { length: number; text: string | null } | null {
  if (bytes.length < 6) return null;
  const short = bytes.readUInt8(1) & 127;
  const start = short === 126 ? 4 : 2;
  if (bytes.length < start + 4) return null;
  const length = short === 126 ? bytes.readUInt16BE(2) : short;
  if (bytes.length < start + 4 + length) return null;
  const mask = bytes.subarray(start, start + 4);
  const payload = bytes.subarray(start + 4, start + 4 + length).map((byte, at) => byte ^ (mask[at % 4] ?? 0));
  const isText = (bytes.readUInt8(0) & 15) === 1;
  return { length: start + 4 + length, text: isText ? Buffer.from(payload).toString() : null };
}
