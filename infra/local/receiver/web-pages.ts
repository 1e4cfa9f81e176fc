import type { IncomingMessage } from 'node:http';

/** Names of this machine in a Host header. A page whose own name was made to resolve here (DNS rebinding) sends that name instead. */
export const loopbackNames = ['127.0.0.1', 'localhost', '[::1]'];

/** Only browsers send these. Node's fetch sends Sec-Fetch-Mode, so that header proves nothing. */
const browserHeaders = ['origin', 'sec-fetch-site', 'sec-fetch-dest', 'sec-fetch-user'] as const;

/**
 * Why a request to a control port is refused: any page in a developer's browser can send requests to ports of the developer's machine. A
 * person may open an address in the browser; the browser then says that no page sent the request.
 * @param hostNames the names under which the port is called, as in URLs.
 */
export function refusalOf(
  { method, headers }: Pick<IncomingMessage, 'method' | 'headers'>,
  hostNames: readonly string[],
) {
  const host = /^(\[[^\]]*\]|[^:]*)(?::\d+)?$/.exec(headers.host ?? '')?.[1]?.toLowerCase() ?? '';
  if (!hostNames.includes(host)) return { status: 421, body: { detail: `Known as ${hostNames.join(', ')} only` } };
  const isOpenedByPerson = method === 'GET' && headers['sec-fetch-site'] === 'none' && headers.origin === undefined;
  if (!isOpenedByPerson && browserHeaders.some((name) => headers[name] !== undefined))
    return { status: 403, body: { detail: 'Web pages may not use this' } };
  const contentType = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (method === 'POST' && contentType !== 'application/json')
    return { status: 415, body: { detail: 'The body must be application/json' } };
  return null;
}
