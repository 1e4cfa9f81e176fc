import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip, gzipSync } from 'node:zlib';
import type { Asset } from '@quittance/checkout-page/asset.ts';
import type { Reply, RouteRequest } from '@quittance/http/server/route.ts';

/** A body for one request; compressed for clients that accept gzip. */
export function compressed(request: RouteRequest, reply: Reply & { body: string }): Reply {
  const varied = withVary(reply);
  return acceptsGzip(request) ? gzipped(varied, gzipSync(reply.body)) : varied;
}

/** Answers with a constant body, or with 304 if the client has it. */
export type FixedContent = (request: RouteRequest) => Promise<Reply>;

/** Compressed once, for the first client that accepts gzip, and on another thread, because it may be large. */
export function fixedContent(body: string | Buffer, headers: Record<string, string>): FixedContent {
  const plain = Buffer.from(body);
  let compressing: Promise<Buffer> | null = null;
  // Weak, because all encodings share it.
  const etag = `W/"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`;
  const reply = withVary({
    status: 200,
    body: plain,
    headers: { ...headers, 'x-content-type-options': 'nosniff', etag },
  });
  const unchanged = { ...reply, status: 304, body: undefined };
  return async (request) => {
    if (request.headers['if-none-match']?.split(/,\s*/).includes(etag)) return unchanged;
    if (!acceptsGzip(request)) return reply;
    return gzipped(reply, await (compressing ??= promisify(gzip)(plain, { level: 9 })));
  };
}

/** Assets by name. */
export const assetFiles = (assets: Record<string, Asset>, cacheControl: string): Map<string, FixedContent> =>
  new Map(
    Object.values(assets).map(({ name, contentType, bytes }) => [
      name,
      fixedContent(bytes, { 'content-type': contentType, 'cache-control': cacheControl }),
    ]),
  );

const withVary = <R extends Reply>(reply: R): R => {
  const vary = [reply.headers?.['vary'], 'accept-encoding'].filter((name) => name !== undefined).join(', ');
  return { ...reply, headers: { ...reply.headers, vary } };
};

const gzipped = (reply: Reply, body: Buffer): Reply => ({
  ...reply,
  body,
  headers: { ...reply.headers, 'content-encoding': 'gzip' },
});

const acceptsGzip = ({ headers }: RouteRequest): boolean =>
  /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(headers['accept-encoding'] ?? '');
