import { shape, type Shape, type ShapeParts } from './shapes.ts';

const refused = [400];

/** Requests whose body end is unclear. */
export function framingShapes({ key, body }: ShapeParts): Shape[] {
  const creation = (name: string, headers: string, rest: string, statuses: readonly number[], version = '1.1') =>
    shape(name, statuses, {
      firstLine: `POST /api/v1/payments HTTP/${version}`,
      headers: `Host: x\r\n${key}Content-Type: application/json\r\nIdempotency-Key: shape\r\n${headers}`,
      rest,
    });
  const length = Buffer.byteLength(body);
  const chunks = `${length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  const inner = `GET /api/v1/payments HTTP/1.1\r\nHost: x\r\n${key}X-Smuggled: `;
  const te = 'Transfer-Encoding: chunked\r\n';
  const cl = (value: number | string) => `Content-Length: ${value}\r\n`;
  return [
    creation('a length and chunks', cl(4) + te, `0\r\n\r\n${inner}`, refused),
    creation('chunks and a length', te + cl(length), chunks, refused),
    creation('two lengths', cl(length) + cl(0), body, refused),
    creation('one length twice', cl(length) + cl(length), body, refused),
    creation('a list of lengths', cl(`${length}, ${length}`), body, refused),
    creation('a signed length', cl(`+${length}`), body, refused),
    creation('a negative length', cl(-1), '', refused),
    creation('a hexadecimal length', cl('0x10'), body, refused),
    creation('a length with a space inside', cl('1 0'), body, refused),
    creation('an empty length', cl(''), body, refused),
    creation('a length beyond 64 bits', cl('99999999999999999999'), body, [400, 413]),
    { ...creation('a length beyond the limit', cl('9007199254740991'), '', [400, 413]), isIncomplete: true },
    { ...creation('a truncated body', cl(length + 1), body, [400, 408]), isIncomplete: true },
    { ...creation('truncated chunks', te, chunks.slice(0, -4), [400, 408]), isIncomplete: true },
    creation('no length', '', '', [422]),
    creation('chunked twice', te + te, chunks, refused),
    creation('chunked, then identity', 'Transfer-Encoding: chunked, identity\r\n', chunks, refused),
    creation('an unknown coding', 'Transfer-Encoding: xchunked\r\n', chunks, refused),
    creation('a coding before chunked', 'Transfer-Encoding: gzip, chunked\r\n', chunks, [400, 422]),
    creation('a coding in quotes', 'Transfer-Encoding: "chunked"\r\n', chunks, refused),
    creation('a coding after a tab', 'Transfer-Encoding:\tchunked\r\n', chunks, [201, 400]),
    creation('a coding after a vertical tab', 'Transfer-Encoding: \x0bchunked\r\n', chunks, refused),
    creation('a coding with a space before the colon', 'Transfer-Encoding : chunked\r\n', chunks, refused),
    creation('a coding with an underscore in its name', `Transfer_Encoding: chunked\r\n${cl(0)}`, '', [400, 422]),
    creation('chunks in HTTP/1.0', te, chunks, [201, 400, 422], '1.0'),
    creation('a chunk of negative size', te, '-1\r\n\r\n0\r\n\r\n', refused),
    creation('a chunk size with a prefix', te, '0x5\r\nhello\r\n0\r\n\r\n', refused),
    creation('a chunk of immense size', te, 'fffffffffffffffff\r\nx', [400, 413]),
    creation('a chunk longer than it says', te, `1\r\n${body}\r\n0\r\n\r\n`, refused),
    creation('chunks with bare line feeds', te, '1\n{\n0\n\n', [400, 422]),
    creation('a long chunk extension', te, `1;${'x'.repeat(20_000)}\r\n{\r\n0\r\n\r\n`, [400, 413, 422]),
    creation('a trailer that frames', te, `1\r\n{\r\n0\r\n${cl(9)}\r\n`, [400, 422]),
    shape('a key in the trailer', [401], {
      firstLine: 'GET /api/v1/payments HTTP/1.1',
      headers: `Host: x\r\n${te}Trailer: X-API-Key\r\n`,
      rest: `0\r\n${key}\r\n`,
    }),
    shape('a request as the body of GET', [200, 400], {
      firstLine: 'GET /api/v1/payments HTTP/1.1',
      headers: `Host: x\r\n${key}${cl(inner.length)}`,
      rest: inner,
    }),
  ];
}
