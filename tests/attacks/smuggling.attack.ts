import { connect } from 'node:net';
import { randomBytes } from 'node:crypto';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { sourceAddress } from '../support/http.ts';
import { openMerchant } from '../support/merchant.ts';
import { NoAnswer, RawConnection } from '../support/raw.ts';
import type { ShapeParts } from '../support/shapes/shapes.ts';
import type { Attack, Check } from './attack.ts';
import { ask } from './support/ask.ts';

/** Requests of other clients after each attempt, each on its own connection. */
const VICTIMS = 6;

export const attack: Attack = {
  name: 'smuggling',
  about:
    'requests that an attacker leaves behind on a connection, and changes of protocol; the contract has each ambiguous request',
  async checks({ stack }) {
    const { apiKey, wallet } = await openMerchant(stack);
    const body = JSON.stringify({ amount: '1', merchant_wallet: wallet, description: 'Order 7' });
    const parts = { key: `X-API-Key: ${apiKey}\r\n`, body };
    return [victims(stack, parts), upgrades(stack, parts)];
  },
};

const post = 'POST /api/v1/payments HTTP/1.1';
const headersOf = ({ key }: ShapeParts) =>
  `Host: x\r\n${key}Content-Type: application/json\r\nIdempotency-Key: coding\r\n`;

/** The beginning of a request that a second reader may find behind the first, and prepend to another client's request. */
const smuggled = (id: string) => `GET /api/v1/payments HTTP/1.1\r\nHost: x\r\nX-Request-ID: ${id}\r\nX-Ignored: `;

const victims = (stack: StackFile, parts: ShapeParts): Check => ({
  name: 'a client that asks after an attacker gets the answer to its own request',
  async run(trial) {
    for (const { name, bytes } of openings(parts)) {
      const attacker = new RawConnection(stack.edge_url);
      await attacker.ask(bytes, 'POST').catch((error: unknown) => {
        if (!(error instanceof NoAnswer)) throw error;
      });
      const answers = await Promise.all(
        Array.from({ length: VICTIMS }, async () => {
          const id = `victim-${randomBytes(6).toString('hex')}`;
          const { status, headers } = await ask('GET', `${stack.edge_url}/api/v1/merchant/limits`, {
            headers: { 'X-Request-ID': id },
          });
          return { id, status, seen: headers['x-request-id'] };
        }),
      );
      attacker.close();
      for (const { id, status, seen } of answers)
        trial.holds(
          status === 401 && seen === id,
          () => `after ${name}, ${id} was answered ${status} with ${String(seen)}`,
        );
    }
  },
});

function openings(parts: ShapeParts): { name: string; bytes: string }[] {
  const hidden = smuggled('left-behind');
  const request = (headers: string, rest: string) => `${post}\r\n${headersOf(parts)}${headers}\r\n${rest}`;
  const te = 'Transfer-Encoding: chunked\r\n';
  return [
    {
      name: 'a length that hides a request from chunks',
      bytes: request(`Content-Length: ${5 + hidden.length}\r\n${te}`, `0\r\n\r\n${hidden}`),
    },
    {
      name: 'chunks that hide a request from a length',
      bytes: request(`${te}Content-Length: 4\r\n`, `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`),
    },
    { name: 'two lengths', bytes: request(`Content-Length: 0\r\nContent-Length: ${hidden.length}\r\n`, hidden) },
    { name: 'no length at all', bytes: request('', hidden) },
    { name: 'a length of zero', bytes: request('Content-Length: 0\r\n', hidden) },
    { name: 'chunk extensions with line feeds', bytes: request(te, `2;\nxx\r\n{}\r\n0\r\n\r\n${hidden}`) },
    { name: 'a last chunk spelled otherwise', bytes: request(te, `00000\r\n\r\n${hidden}`) },
    { name: 'an expectation', bytes: request(`Expect: 100-continue\r\nContent-Length: 2\r\n`, `{}${hidden}`) },
  ];
}

/** What the connection answers to these bytes before it is silent or ends. */
function saidTo(baseUrl: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  const localAddress = sourceAddress();
  const { promise, resolve } = Promise.withResolvers<string>();
  let said = '';
  const socket = connect({ host: hostname, port: Number(port), ...(localAddress !== undefined && { localAddress }) });
  // An answer comes much earlier. A connection that waits for more counts as refused.
  socket.setTimeout(3_000, () => socket.destroy());
  socket.on('data', (chunk) => (said += chunk.toString('latin1')));
  socket.on('error', () => undefined);
  socket.on('close', () => resolve(said));
  socket.write(bytes, 'latin1');
  return promise;
}

const upgrades = (stack: StackFile, { key }: ShapeParts): Check => ({
  name: 'no connection changes its protocol: not to HTTP/2, not to a websocket, not to a tunnel',
  async run(trial) {
    const request = (first: string, headers: string, rest = '') => `${first}\r\nHost: x\r\n${key}${headers}\r\n${rest}`;
    const get = 'GET /api/v1/payments HTTP/1.1';
    const hidden = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00';
    const h2c = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n';
    const attempts = [
      request(get, h2c, hidden),
      request(get, h2c.replace('HTTP2-Settings\r\n', 'close\r\n'), hidden),
      request(post, `${h2c}Content-Length: 0\r\n`, hidden),
      request(
        get,
        'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eHh4eHh4eHh4eHh4eHh4eA==\r\n',
      ),
      request('CONNECT 127.0.0.1:22 HTTP/1.1', ''),
      hidden,
    ];
    for (const door of [stack.edge_url, stack.services['api-gateway'].replicas[0]!.url]) {
      for (const bytes of attempts) {
        const said = await saidTo(door, bytes);
        const isPlain = /^HTTP\/1\.1 (?:2\d\d|4\d\d) /.test(said) || said === '';
        // The first frame of HTTP/2 is its settings, of type 4.
        const isChanged =
          /^HTTP\/1\.1 (?:101|200 Connection)/.test(said) || said.includes('\0\0\x12\x04') || said.startsWith('\0\0');
        trial.holds(
          isPlain && !isChanged,
          () => `${door} said ${JSON.stringify(said.slice(0, 200))} to ${JSON.stringify(bytes.slice(0, 60))}`,
        );
      }
    }
  },
});
