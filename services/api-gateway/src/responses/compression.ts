import { gzipSync } from 'node:zlib';
import type { Asset } from '@quittance/checkout-page/asset.ts';
import type { Reply, RouteRequest } from '@quittance/http/server/route.ts';

/** A body made for this request; compressed for clients that accept gzip. */
export function compressed(request: RouteRequest, reply: Reply & { body: string }): Reply {
  return negotiated(request, reply, () => gzipSync(reply.body));
}

/** A body that is always the same; compressed once, for the first client that wants it so. */
export function fixedContent(
  body: string | Buffer,
  headers: Record<string, string>,
): (request: RouteRequest) => Reply & { status: 200 } {
  const plain = Buffer.from(body);
  let gzipped: Buffer | null = null;
  const reply = { status: 200 as const, body: plain, headers: { ...headers, 'x-content-type-options': 'nosniff' } };
  return (request) => negotiated(request, reply, () => (gzipped ??= gzipSync(plain, { level: 9 })));
}

/** Assets by name. */
export const assetFiles = (assets: Record<string, Asset>, cacheControl: string) =>
  new Map(
    Object.values(assets).map(({ name, contentType, bytes }) => [
      name,
      fixedContent(bytes, { 'content-type': contentType, 'cache-control': cacheControl }),
    ]),
  );

function negotiated<R extends Reply>({ headers }: RouteRequest, reply: R, gzip: () => Buffer): R {
  const vary = [reply.headers?.['vary'], 'accept-encoding'].filter((name) => name !== undefined).join(', ');
  if (!acceptsGzip(headers['accept-encoding'] ?? '')) return { ...reply, headers: { ...reply.headers, vary } };
  return { ...reply, body: gzip(), headers: { ...reply.headers, vary, 'content-encoding': 'gzip' } };
}

const acceptsGzip = (accepted: string): boolean => /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(accepted);
