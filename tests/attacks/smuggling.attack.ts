import { connect } from 'node:net';
import { randomBytes } from 'node:crypto';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { sourceAddress } from '../support/http.ts';
import { openMerchant } from '../support/merchant.ts';
import { NoAnswer, RawConnection } from '../support/raw.ts';
import { framingShapes } from '../support/shapes/framing-shapes.ts';
import { headerShapes } from '../support/shapes/header-shapes.ts';
import { shape, type Shape, type ShapeParts } from '../support/shapes/shapes.ts';
import { targetShapes } from '../support/shapes/target-shapes.ts';
import { shapeProblems } from '../support/shapes/try-shape.ts';
import type { Attack, Check } from './attack.ts';
import { ask } from './support/ask.ts';

/** Requests of others that follow each attempt, on connections of their own. */
const VICTIMS = 6;

export const attack: Attack = {
  name: 'smuggling',
  about:
    'requests that the edge and the gateway could read in two ways, and what an attacker leaves behind on a connection',
  async checks({ stack }) {
    const { apiKey, wallet } = await openMerchant(stack);
    const body = JSON.stringify({ amount: '1', merchant_wallet: wallet, description: 'Order 7' });
    const parts = { key: `X-API-Key: ${apiKey}\r\n`, body };
    const gateway = stack.services['api-gateway'].replicas[0]!.url;
    const groups = {
      'where a body ends': framingShapes,
      'whose a header is': headerShapes,
      'what is asked for': targetShapes,
    };
    return [
      ...Object.entries(groups).flatMap(([what, shapes]) => [
        readOnce(`the edge leaves no doubt ${what}`, stack.edge_url, shapes(parts), apiKey),
        readOnce(`nor does the gateway behind it ${what}`, gateway, shapes(parts).filter(isForBoth), apiKey),
      ]),
      readOnce(
        'no spelling of Transfer-Encoding is read by one of the two alone',
        stack.edge_url,
        codings(parts),
        apiKey,
      ),
      readOnce('nor by the gateway', gateway, codings(parts), apiKey),
      victims(stack, parts),
      upgrades(stack, parts),
    ];
  },
};

const isForBoth = ({ isForEdgeOnly }: Shape): boolean => isForEdgeOnly !== true;

const readOnce = (name: string, door: string, shapes: Shape[], secret: string): Check => ({
  name,
  async run(trial) {
    for (const one of shapes) trial.none(await shapeProblems(door, one, [secret]));
  },
});

const post = 'POST /api/v1/payments HTTP/1.1';
const headersOf = ({ key }: ShapeParts) =>
  `Host: x\r\n${key}Content-Type: application/json\r\nIdempotency-Key: coding\r\n`;

/** Each with a length beside it that ends the request somewhere else. */
function codings(parts: ShapeParts): Shape[] {
  const spellings = [
    ...[
      'chunked ',
      ' chunked',
      '\tchunked',
      'chunked\t',
      'chunked,',
      ',chunked',
      'chunked, chunked',
      'chunKED',
      'cow',
      '',
    ],
    ...['chunked;q=1', 'chunked\x00', '\x0cchunked', 'identity', 'identity, chunked', 'chunked\r\n x', 'x\r\n chunked'],
  ];
  const names = ['Transfer-Encoding', 'transfer-encoding', 'TRANSFER-ENCODING'];
  const shaped = (name: string, headers: string): Shape =>
    shape(name, [400], {
      firstLine: post,
      headers: headersOf(parts) + headers,
      rest: '0\r\n\r\nGET /smuggled HTTP/1.1\r\nX: ',
    });
  return [
    ...spellings.flatMap((spelling, index) => {
      const line = `${names[index % names.length]}: ${spelling}\r\n`;
      return [
        shaped(`"${JSON.stringify(spelling)}" before a length`, `${line}Content-Length: 4\r\n`),
        shaped(`"${JSON.stringify(spelling)}" after a length`, `Content-Length: 4\r\n${line}`),
      ];
    }),
    shaped('a length with a plus', 'Content-Length: +4\r\nTransfer-Encoding: chunked\r\n'),
    shaped('two codings in two lines', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\nContent-Length: 4\r\n'),
    shaped('a colon after a space', 'Transfer-Encoding : chunked\r\nContent-Length: 4\r\n'),
    shaped('a line feed alone before it', 'X: x\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n'),
    shaped('a carriage return alone before it', 'X: x\rTransfer-Encoding: chunked\r\nContent-Length: 4\r\n'),
  ];
}

/** The beginning of a request that a second reader may find behind the first, and prepend to what somebody else sends. */
const smuggled = (id: string) => `GET /api/v1/payments HTTP/1.1\r\nHost: x\r\nX-Request-ID: ${id}\r\nX-Ignored: `;

const victims = (stack: StackFile, parts: ShapeParts): Check => ({
  name: 'whoever asks after an attacker gets the answer to the own request, and to no other',
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

/** What the connection says to these bytes before it is quiet or ends. */
function saidTo(baseUrl: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  const localAddress = sourceAddress();
  const { promise, resolve } = Promise.withResolvers<string>();
  let said = '';
  const socket = connect({ host: hostname, port: Number(port), ...(localAddress !== undefined && { localAddress }) });
  // An answer is there long before; what waits for more from us is as good as refused.
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
