import type { IncomingHttpHeaders } from 'node:http';
import type { Method } from '@quittance/contracts/call.ts';
import type { Access, MerchantRole, Principal } from '@quittance/contracts/principal.ts';
import type { CallOwner } from '@quittance/contracts/service-name.ts';

/** A request as a route sees it, independent of the framework. */
export type RouteRequest = {
  method: string;
  /** Without the query, still percent-encoded. */
  path: string;
  /** Decoded path parameters, by the names in the route's path. */
  params: Record<string, string>;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  /** Name, value, name, value, … as received. Shows headers that were sent twice. */
  rawHeaders: string[];
  requestId: string;
  /** The address of the connection's other end, which may be a proxy. */
  remoteAddress: string;
  /** The person who makes a request under /internal/; null for a service, and for every request from outside. */
  principal: Principal | null;
  /**
   * Reads the body, with a length or chunked, and buffers at most `maxBytes`. For a longer body, `tooLarge` is true and
   * `bytes` is empty. Read again, it is the same.
   * @throws RequestAborted when the client leaves before the end.
   */
  readBody(maxBytes: number): Promise<{ bytes: Buffer; tooLarge: boolean }>;
};

/**
 * A route's answer. An object is sent as JSON. A Buffer is sent byte for byte, as JSON unless `headers` says otherwise;
 * a string as plain text unless `headers` says otherwise; a Readable as its bytes arrive, at the client's pace (see
 * startStream()).
 */
export type Reply = { status: number; body?: unknown; headers?: Record<string, string> };

/** One route. `path` may contain `:parameters`. A GET route also answers HEAD. */
export type Route = {
  method: Method;
  path: string;
  handle: (request: RouteRequest) => Promise<Reply> | Reply;
  /** Who may call it under /internal/; only services by default. */
  access?: Access;
  /** The services that may call it under /internal/; none by default. */
  callers?: readonly CallOwner[];
  /** From which role on people of the merchant that the path names may call it too; null by default, for nobody. */
  forMerchants?: MerchantRole | null;
  /** The time in which a request from outside is answered, where it differs from the default. */
  publicTimeoutMs?: number;
};

/** A decoded path parameter. @throws Error when the route's path has no such parameter, which is a bug. */
export function pathParameter(params: RouteRequest['params'], name: string): string {
  const value = params[name];
  if (value === undefined) throw new Error(`the path has no parameter ${name}`);
  return value;
}
