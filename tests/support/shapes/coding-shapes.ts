import { shape, type Shape, type ShapeParts } from './shapes.ts';

const post = 'POST /api/v1/payments HTTP/1.1';
const headersOf = ({ key }: ShapeParts) =>
  `Host: x\r\n${key}Content-Type: application/json\r\nIdempotency-Key: coding\r\n`;

/** Spellings of Transfer-Encoding, each next to a length that ends the request elsewhere. */
export function codingShapes(parts: ShapeParts): Shape[] {
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
        shaped(`${JSON.stringify(spelling)} before a length`, `${line}Content-Length: 4\r\n`),
        shaped(`${JSON.stringify(spelling)} after a length`, `Content-Length: 4\r\n${line}`),
      ];
    }),
    shaped('a length with a plus', 'Content-Length: +4\r\nTransfer-Encoding: chunked\r\n'),
    shaped('two codings in two lines', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\nContent-Length: 4\r\n'),
    shaped('a colon after a space', 'Transfer-Encoding : chunked\r\nContent-Length: 4\r\n'),
    shaped('a line feed alone before it', 'X: x\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n'),
    shaped('a carriage return alone before it', 'X: x\rTransfer-Encoding: chunked\r\nContent-Length: 4\r\n'),
  ];
}
