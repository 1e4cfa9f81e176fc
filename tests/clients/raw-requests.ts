import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';

export type Head = readonly (readonly [string, string])[];

/** The headers of a PAID event that is signed now, and its body. */
export function signedEvent(keyId: string, key: string): { head: Head; body: string } {
  const event = { event_id: 'evt_1', payment_id: `pay_${'1'.repeat(32)}`, status: 'PAID', expected_amount: '49.90' };
  const body = JSON.stringify(event);
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const signature = createHmac('sha256', key).update(`${timestamp}.${body}`).digest('hex');
  const head = [
    ['Content-Type', 'application/json'],
    ['X-Service-Timestamp', timestamp],
    ['X-Service-Signature', `v1=${signature}`],
    ['X-Service-Event-ID', event.event_id],
    ['X-Service-Key-ID', keyId],
  ] as const;
  return { head, body };
}

/** Sends a head, and as much of a body as is given, for any head. @returns the status, once the connection is closed. */
export async function statusUntilClosed(url: string, head: Head, body: string): Promise<number> {
  const { socket, answer } = begin(url, head, body);
  await once(socket, 'close');
  return statusOf(answer());
}

/** The same as soon as the answer comes. */
export async function statusAtOnce(url: string, head: Head, body: string): Promise<number> {
  const { socket, answer } = begin(url, head, body);
  await Promise.race([once(socket, 'data'), once(socket, 'close')]);
  socket.destroy();
  return statusOf(answer());
}

function begin(url: string, head: Head, body: string) {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  let answer = '';
  socket.on('data', (chunk) => (answer += chunk.toString()));
  // The other side closes while something is unread.
  socket.on('error', () => undefined);
  const lines = [['Host', 'shop.example'] as const, ...head].map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
  return { socket, answer: () => answer };
}

const statusOf = (answer: string): number => Number(/^HTTP\/1\.[01] ([0-9]{3}) /.exec(answer)?.[1]);

const chunk = `1400\r\n${'x'.repeat(0x1400)}\r\n`;

/** 70 KiB in chunks, of which the last one is missing. */
export const chunksWithoutEnd = chunk.repeat(14);
