import { shape, type Shape, type ShapeParts } from './shapes.ts';

const refused = [400];
/** Unusual, but not ambiguous: it may be accepted or refused. */
const either = [200, 400];

/** Requests whose headers are unclear. */
export function headerShapes({ key }: ShapeParts): Shape[] {
  const listed = (name: string, headers: string, statuses: readonly number[]) =>
    shape(name, statuses, { firstLine: 'GET /api/v1/payments HTTP/1.1', headers: headers + key });
  const unsigned = (name: string, headers: string, statuses: readonly number[]) =>
    shape(name, statuses, { firstLine: 'GET /api/v1/payments HTTP/1.1', headers });
  const folded = key.replace(': ', ':\r\n ');
  return [
    listed('a bare line feed in a header', 'Host: x\r\nX-A: b\nX-B: c\r\n', either),
    listed('a bare carriage return in a header', 'Host: x\r\nX-A: b\rX-B: c\r\n', refused),
    listed('a NUL in a header', 'Host: x\r\nX-A: b\0c\r\n', refused),
    listed('a folded header', 'Host: x\r\nX-A: b\r\n c\r\n', either),
    unsigned('a folded key', `Host: x\r\n${folded}`, [400, 401]),
    listed('a first header with a space before it', ' X-A: b\r\nHost: x\r\n', refused),
    listed('a header without a colon', 'Host: x\r\nX-A\r\n', either),
    listed('a header without a name', 'Host: x\r\n: b\r\n', refused),
    listed('a name with brackets', 'Host: x\r\nX[A]: b\r\n', either),
    listed('bytes above ASCII', 'Host: x\r\nX-A: \xff\xfe\r\n', either),
    listed('120 headers', `Host: x\r\n${'X-A: b\r\n'.repeat(120)}`, [200]),
    listed('3000 headers', `Host: x\r\n${'X-A: b\r\n'.repeat(3_000)}`, [400, 431]),
    listed('a header of 20 kB', `Host: x\r\nX-A: ${'b'.repeat(20_000)}\r\n`, [400, 431]),
    listed('an oversized key before the right one', `Host: x\r\nX-API-Key: ${'k'.repeat(7_000)}\r\n`, [401]),
    listed('a second key in another spelling', 'Host: x\r\nx-api-key: other\r\n', [401]),
    listed('the right key twice', `Host: x\r\n${key}`, [401]),
    listed('an empty key before the right one', 'Host: x\r\nX-API-Key:\r\n', [401]),
    unsigned('an empty key', 'Host: x\r\nX-API-Key: \r\n', [401]),
    unsigned('a key with an underscore in its name', `Host: x\r\n${key.replaceAll('-', '_')}`, [401]),
    listed('no host', '', refused),
    listed('two hosts', 'Host: x\r\nHost: y\r\n', either),
    listed('a host with a space', 'Host: a b\r\n', either),
    listed('a host with a path', 'Host: x/../y\r\n', either),
    listed('an empty host', 'Host:\r\n', either),
    listed(
      'a websocket',
      'Host: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: eA==\r\n',
      either,
    ),
    listed(
      'HTTP/2 by upgrade',
      'Host: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n',
      either,
    ),
    listed('an unknown expectation', 'Host: x\r\nExpect: wonders\r\n', [200]),
    listed('headers removed by Connection', 'Host: x\r\nConnection: close, X-API-Key, Host\r\n', [200, 401]),
  ];
}
