import { gzipSync } from 'node:zlib';
import type { Reply, RouteRequest } from '@quittance/http/server/route.ts';

/** Text that differs from request to request; compressed for whoever takes that. */
export function compressed(request: RouteRequest, reply: Reply & { body: string }): Reply {
  return negotiated(request, reply, () => gzipSync(reply.body));
}

/** Content that is always the same; compressed once for all. */
export function fixedContent(
  body: string | Buffer,
  headers: Record<string, string>,
): (request: RouteRequest) => Reply & { status: 200 } {
  const plain = Buffer.from(body);
  const gzipped = gzipSync(plain, { level: 9 });
  const reply = { status: 200 as const, body: plain, headers: { ...headers, 'x-content-type-options': 'nosniff' } };
  return (request) => negotiated(request, reply, () => gzipped);
}

function negotiated<R extends Reply>({ headers }: RouteRequest, reply: R, gzip: () => Buffer): R {
  const vary = [reply.headers?.['vary'], 'accept-encoding'].filter((name) => name !== undefined).join(', ');
  if (!takesGzip(headers['accept-encoding'] ?? '')) return { ...reply, headers: { ...reply.headers, vary } };
  return { ...reply, body: gzip(), headers: { ...reply.headers, vary, 'content-encoding': 'gzip' } };
}

const takesGzip = (accepted: string): boolean => /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(accepted);
