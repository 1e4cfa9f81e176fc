import type { IncomingHttpHeaders } from 'node:http';

import type { Method } from '@quittance/contracts/call.ts';
import type { Access } from '@quittance/contracts/operator.ts';
import type { Principal } from '@quittance/contracts/principal.ts';
import type { ServiceName } from '@quittance/contracts/service-name.ts';

/** What a route is given: the request without the framework. */
export type RouteRequest = {
  method: string;
  /** Without the query, still percent-encoded. */
  path: string;
  /** Decoded path parameters, by the names in the route's path. */
  params: Record<string, string>;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  /** Name, value, name, value, … as received: shows a header that was sent twice. */
  rawHeaders: string[];
  requestId: string;
  /** Of the connection's other end, which may be a proxy. */
  remoteAddress: string;
  /** Who asks, under /internal/; null for a service and for everyone outside. */
  principal: Principal | null;
  /**
   * Reads the body, however it is framed, and buffers `maxBytes` at most. When it is longer, `tooLarge` is true and `bytes` empty.
   * @throws RequestAborted when the client goes away before the end.
   */
  readBody(maxBytes: number): Promise<{ bytes: Buffer; tooLarge: boolean }>;
};

/**
 * What a route answers. An object is sent as JSON; a Buffer byte for byte, as JSON unless `headers` says otherwise; a string as
 * plain text unless `headers` says otherwise; a Readable as its bytes come, at the pace of the client (see startStream()).
 */
export type Reply = { status: number; body?: unknown; headers?: Record<string, string> };

/** One way in: `path` may hold `:parameters`. A GET route answers HEAD as well. */
export type Route = {
  method: Method;
  path: string;
  handle: (request: RouteRequest) => Promise<Reply> | Reply;
  /** Who may ask under /internal/: services alone unless it is given. */
  access?: Access;
  /** The services that may ask under /internal/: none unless they are given. */
  callers?: readonly ServiceName[];
  /** Whether people of the merchant whom the path names may ask as well: not unless it is given. */
  forMerchants?: boolean;
  /** Within which a request from outside is answered, where that is not the time of all others. */
  publicTimeoutMs?: number;
};

/** A parameter of the path, decoded. @throws Error when the route's path has none of this name, which would be our own mistake. */
export function pathParameter(params: RouteRequest['params'], name: string): string {
  const value = params[name];
  if (value === undefined) throw new Error(`the path has no parameter ${name}`);
  return value;
}
