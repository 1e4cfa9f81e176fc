import type { Random } from './random.ts';

/** One complete request, so that the connection can carry another one after it. */
export type HostileRequest = {
  /** The generator's intention. */
  kind: string;
  method: string;
  /** As in the request line, including the query. */
  path: string;
  headers: (readonly [name: string, value: string])[];
  body: Buffer | null;
  isChunked: boolean;
};

/** The request's bytes; a body gets the header that frames it. */
export function toBytes({ method, path, headers, body, isChunked }: HostileRequest, random: Random): Buffer {
  const framing = body === null ? [] : isChunked ? ['Transfer-Encoding: chunked'] : [`Content-Length: ${body.length}`];
  const lines = [
    `${method} ${path} HTTP/1.1`,
    ...(headers.some(([name]) => name === 'Host') ? [] : ['Host: pay.example.com']),
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...framing,
  ];
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
  if (body === null) return head;
  return Buffer.concat([head, ...(isChunked ? chunks(body, random) : [body])]);
}

/** The body in up to five chunks, some with an extension, sometimes followed by a trailer. */
function chunks(body: Buffer, random: Random): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length;) {
    const size = parts.length === 4 ? body.length - at : Math.min(body.length - at, 1 + random.below(body.length));
    const extension = random.chance(0.2) ? ';name="va;lue"' : '';
    const digits = random.chance(0.2) ? `00${size.toString(16).toUpperCase()}` : size.toString(16);
    parts.push(
      Buffer.concat([Buffer.from(`${digits}${extension}\r\n`), body.subarray(at, at + size), Buffer.from('\r\n')]),
    );
    at += size;
  }
  const trailer = random.chance(0.2) ? 'X-API-Key: qk_trailer\r\nX-Other: 5\r\n' : '';
  return [...parts, Buffer.from(`0\r\n${trailer}\r\n`)];
}

/** A request for an error message, shortened. */
export function printed(bytes: Buffer): string {
  const text = JSON.stringify(bytes.toString('latin1'));
  return text.length > 900 ? `${text.slice(0, 700)} … ${text.slice(-100)} (${bytes.length} bytes)` : text;
}
