import { shape, type Shape, type ShapeParts } from './shapes.ts';

const refused = [400];
const host = 'Host: x\r\n';

/** Requests whose HTTP version or target is unclear. */
export function targetShapes({ key }: ShapeParts): Shape[] {
  const line = (name: string, firstLine: string, statuses: readonly number[], headers = host + key) =>
    shape(name, statuses, { firstLine, headers });
  const bytes = (name: string, content: Buffer | string, statuses: readonly number[]): Shape => ({
    ...shape(name, statuses, { firstLine: 'GET /api/v1/payments' }),
    bytes: Buffer.from(content),
  });
  /** The edge parses a path before it chooses a location, and the gateway reads it as written. No reading may lead behind the edge. */
  const hidden = (path: string): Shape => ({
    ...line(`the hidden path ${path}`, `GET ${path} HTTP/1.1`, [400, 404]),
    isForEdgeOnly: true,
  });
  return [
    ...[
      ...[
        '/internal/v1/merchants',
        '/metrics',
        '/livez',
        '/readyz',
        '//metrics',
        '/./metrics',
        '/api/v1/../../metrics',
      ],
      ...[
        '/internal/v1/../../api/v1/payments',
        '/internal/../pay/x',
        '/internal/..%2fassets/x',
        '/metrics/..;/api/v1/payments',
      ],
      ...[
        '/internal/v1/merchants/%2e%2e%2f%2e%2e%2f%2e%2e%2fapi%2fv1%2fx',
        '/internal/v1/merchants/..%2F..%2F..%2Fpay%2Fx',
      ],
      ...[
        '/%69nternal/v1/../../api/v1/x',
        '/api/v1/..%2f..%2finternal/v1/merchants',
        '/api/v1/payments/..%2f..%2f..%2fmetrics',
      ],
      ...[
        '/pay/..%2fmetrics',
        '/assets/../livez',
        '/INTERNAL/v1/merchants',
        'http://x/internal/v1/merchants',
        '/.refused',
      ],
    ].map(hidden),
    ...['http://x', 'ftp://x', 'http://a:b@x'].map((origin) => ({
      ...line(`the whole URL at ${origin}`, `GET ${origin}/api/v1/payments HTTP/1.1`, [200, 400, 404]),
      path: '/api/v1/payments',
    })),
    line('no path', 'GET HTTP/1.1', refused),
    line('an asterisk', 'OPTIONS * HTTP/1.1', [400, 404, 405]),
    line('a name for a path', 'GET payments HTTP/1.1', [400, 404]),
    line('a second path', 'GET /api/v1/payments /api/v1/payments HTTP/1.1', refused),
    line('a tunnel', 'CONNECT x:443 HTTP/1.1', [400, 404, 405]),
    line('a tunnel to a path', 'CONNECT /api/v1/payments HTTP/1.1', [400, 404, 405]),
    line('TRACE', 'TRACE /api/v1/payments HTTP/1.1', [405]),
    line('HTTP/1.0', 'GET /api/v1/payments HTTP/1.0', [200]),
    line('HTTP/1.0 without a host', 'GET /api/v1/payments HTTP/1.0', [200, 400], key),
    line('HTTP/1.2', 'GET /api/v1/payments HTTP/1.2', [200, 400]),
    line('HTTP/9.9', 'GET /api/v1/payments HTTP/9.9', refused),
    line('http in lower case', 'GET /api/v1/payments http/1.1', refused),
    line('the preface of HTTP/2', 'PRI * HTTP/2.0', refused, '\r\nSM\r\n'),
    { ...bytes('HTTP/0.9', 'GET /api/v1/payments\r\n', [400, 408]), isIncomplete: true },
    { ...bytes('half a line', 'GET /api/v1/pay', [400, 408]), isIncomplete: true },
    { ...bytes('half a header', 'GET /api/v1/payments HTTP/1.1\r\nHost: x\r\nX-A: ', [400, 408]), isIncomplete: true },
    bytes('bare line feeds only', `GET /api/v1/payments HTTP/1.1\nHost: x\n${key.trim()}\n\n`, [200, 400]),
    bytes('an empty line first', `\r\nGET /api/v1/payments HTTP/1.1\r\n${host}${key}\r\n`, [200, 400]),
    bytes('a TLS greeting', Buffer.from('16030100a5010000a10303', 'hex'), refused),
    bytes('NULs', Buffer.alloc(64), refused),
    bytes('a word', 'hello\r\n\r\n', refused),
  ];
}
