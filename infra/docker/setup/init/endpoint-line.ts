import { isIP } from 'node:net';
import type { RpcEndpoint } from '@quittance/contracts/networks.ts';
import { isPublicAddress } from '@quittance/contracts/public-address.ts';

/** An endpoint, including its keys, and the id of its network. */
export type GivenEndpoint = { network: string; endpoint: RpcEndpoint };

/**
 * Reads `<network> <url> [Header:value …] [field=value …]`, where a field is one of the networks file, such as requests_per_second=15.
 * @throws Error saying what is wrong, without the keys.
 */
export function parseEndpointLine(line: string): GivenEndpoint {
  const [network = '', url, ...words] = line.trim().split(/\s+/);
  if (url === undefined) throw new Error(`"${network}" is not followed by a URL`);
  const headers: Record<string, string> = {};
  const fields: Record<string, string | number> = {};
  for (const word of words) {
    const [, field, content] = /^([a-z_]+)=(.+)$/.exec(word) ?? [];
    const [, header, value] = /^([A-Za-z0-9-]+):(.+)$/.exec(word) ?? [];
    if (field !== undefined && content !== undefined) fields[field] = /^\d+$/.test(content) ? Number(content) : content;
    else if (header !== undefined && value !== undefined) headers[header] = value;
    else throw new Error(`${network}: after the URL come "Header:value" and "field=value", without spaces in them`);
  }
  return { network, endpoint: { url, ...(Object.keys(headers).length > 0 && { headers }), ...fields } };
}

/** Problems of an endpoint that its text shows. `ops network check` calls the endpoint itself. */
export function endpointProblems({ network, endpoint }: GivenEndpoint, position: number): string[] {
  const place = `endpoint ${String(position)} of ${network}`;
  const texts = [endpoint.url, endpoint.ws_url ?? '', ...Object.values(endpoint.headers ?? {})];
  if (texts.some((text) => placeholder.test(text)))
    return [`${place}: replace the placeholder with the key itself; it is stored only in chain-watcher.env`];
  return [
    ...urlProblems(endpoint.url, ['https:', 'http:']),
    ...(endpoint.ws_url === undefined ? [] : urlProblems(endpoint.ws_url, ['wss:', 'ws:'])),
    ...keyProblems(endpoint),
  ].map((problem) => `${place}: ${problem}`);
}

const placeholder = /[<>…{}$]|your[-_ ]?(?:api[-_ ]?)?key|api[-_ ]key[-_ ]here/i;

function urlProblems(text: string, [safe = '', open = '']: readonly string[]): string[] {
  const url = URL.parse(text);
  if (url === null || ![safe, open].includes(url.protocol)) return [`its URL must begin with ${safe}//`];
  if (url.protocol === open && !isNear(url.hostname))
    return [
      `its URL must begin with ${safe}//: with ${open}// anyone on the network path can read the key and forge answers`,
    ];
  return [];
}

/** A node in the operator's own network: a private address, or a name that resolves only there. */
function isNear(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 0 ? !host.includes('.') || host.endsWith('.internal') : !isPublicAddress(host);
}

/** Providers that refuse requests, or nearly all of them, without a key in its place. */
const providers: { host: RegExp; key: string; has: (endpoint: RpcEndpoint, path: string) => boolean }[] = [
  {
    host: /(?:^|\.)trongrid\.io$/,
    key: 'a header, TRON-PRO-API-KEY:<key>',
    has: ({ headers = {} }) => Object.keys(headers).some((name) => name.toUpperCase() === 'TRON-PRO-API-KEY'),
  },
  { host: /\.g\.alchemy\.com$/, key: 'its key after /v2/', has: (_, path) => /^\/v2\/[\w-]{8,}/.test(path) },
  { host: /\.infura\.io$/, key: 'its key after /v3/', has: (_, path) => /^\/v3\/[\w-]{8,}/.test(path) },
  { host: /\.quiknode\.pro$/, key: 'its key after the host', has: (_, path) => /^\/[\w-]{8,}/.test(path) },
];

function keyProblems(endpoint: RpcEndpoint): string[] {
  const url = URL.parse(endpoint.url);
  if (url === null) return [];
  const provider = providers.find(({ host }) => host.test(url.hostname));
  if (provider === undefined || provider.has(endpoint, url.pathname)) return [];
  return [`the key is missing: ${url.hostname} needs ${provider.key}`];
}
