import { isIPv4, isIPv6 } from 'node:net';
import { domainToASCII, domainToUnicode } from 'node:url';
import { isPublicAddress } from './public-address.ts';

/** A merchant's webhook endpoint, as far as the text of the URL defines it. Host names are resolved when connecting. */
type EndpointUrl = {
  /** As the merchant sent it, except that an international host name is in ASCII form (Punycode). */
  url: string;
  /** Path and query, at least `/`. */
  path: string;
  /** Lowercase host name, or an address without brackets. */
  host: string;
};

export type EndpointUrlCheck = { ok: true; endpoint: EndpointUrl } | { ok: false; reason: string };

const MAX_URL_LENGTH = 2048;
const MAX_HOST_LENGTH = 253;

/** The characters of RFC 3986 without the fragment's `#`. Parsers disagree on backslashes, spaces and tabs. */
const urlCharacters = /^[A-Za-z0-9\-._~:/?[\]@!$&'()*+,;=%]*$/;
const ascii = /^[\0-\x7f]*$/;
const scheme = /^https:\/\//i;
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** A last label of only digits, or `0x7f`, would make the name an unusual spelling of an IPv4 address. */
const topLabel = /^(?:[a-z]{2,63}|xn--[a-z0-9-]{0,58}[a-z0-9])$/;
const fourNumbers = /^\d{1,3}(?:\.\d{1,3}){3}$/;
/** Names that exist only inside a network or on one machine. */
const privateSuffixes = ['localhost', 'local', 'internal', 'home.arpa', 'onion'];

/**
 * The URL policy for webhook endpoints: public HTTPS on port 443, no user info, no fragment, no unusual spelling. The
 * text is parsed strictly here, and then Node's own parser must agree on the result.
 * Source: the API contract, "PUT /api/v1/merchant/webhook".
 * @param mayBePrivate whether a host may have a name that exists only inside a network; none may by default.
 */
export function parseEndpointUrl(
  given: string,
  mayBePrivate: (host: string) => boolean = () => false,
): EndpointUrlCheck {
  // Doesn't process a text that could not be accepted anyway.
  if (given.length > MAX_URL_LENGTH) return refuse(`must have at most ${MAX_URL_LENGTH} characters`);
  const text = withAsciiHost(given);
  if (text === null) return refuse('must have a valid host name');
  if (text.length > MAX_URL_LENGTH) return refuse(`must have at most ${MAX_URL_LENGTH} characters`);
  if (text.includes('#')) return refuse('must not have a fragment');
  if (!urlCharacters.test(text)) return refuse('must hold only the characters of a URL; others are percent-encoded');
  if (!scheme.test(text)) return refuse('must start with https://');
  const authority = /^[^/?]*/.exec(text.slice('https://'.length))?.[0] ?? '';
  if (authority.includes('@')) return refuse('must not hold credentials');
  const { host, port, bracketed } = splitAuthority(authority);
  if (port !== undefined && port !== '443') return refuse('must use port 443');
  const reason = bracketed ? addressProblem(host) : hostProblem(host, mayBePrivate);
  if (reason !== null) return refuse(reason);
  const url = URL.parse(text);
  if (url === null || url.host !== (bracketed ? `[${host}]` : host)) return refuse('must be a valid URL');
  return { ok: true, endpoint: { url: text, path: url.pathname + url.search, host } };
}

/**
 * Converts an international host name to ASCII and keeps the rest of the text. Only its one ordinary spelling is
 * converted: characters that UTS 46 maps to others or removes, such as full-width letters and dots, could hide the real
 * name or address.
 * @returns null for a host name that is neither ASCII nor a valid international name.
 */
function withAsciiHost(text: string): string | null {
  const [start = '', authority = '', rest = ''] = /^([^:/?#]*:\/\/)([^/?#]*)(.*)$/s.exec(text)?.slice(1) ?? [];
  const [host = '', ...port] = authority.split(':');
  if (ascii.test(host)) return text;
  const name = domainToASCII(host);
  if (name === '' || domainToUnicode(name) !== host.toLowerCase().normalize('NFC')) return null;
  return `${start}${[name, ...port].join(':')}${rest}`;
}

const refuse = (reason: string): EndpointUrlCheck => ({ ok: false, reason });

function splitAuthority(authority: string): { host: string; port: string | undefined; bracketed: boolean } {
  const bracketed = /^\[([^\]]*)\](?::(.*))?$/.exec(authority);
  if (bracketed !== null) return { host: bracketed[1] ?? '', port: bracketed[2], bracketed: true };
  const colon = authority.indexOf(':');
  const host = (colon === -1 ? authority : authority.slice(0, colon)).toLowerCase();
  return { host, port: colon === -1 ? undefined : authority.slice(colon + 1), bracketed: false };
}

function hostProblem(host: string, mayBePrivate: (host: string) => boolean): string | null {
  if (host === '') return 'must name a host';
  if (fourNumbers.test(host)) return addressProblem(host);
  if (host.endsWith('.')) return 'must not have a dot after the host name';
  const labels = host.split('.');
  if (labels.length < 2) return 'must have a host name with a dot';
  if (host.length > MAX_HOST_LENGTH || !labels.every((part) => label.test(part))) return 'must have a valid host name';
  if (!topLabel.test(labels.at(-1) ?? '')) return 'must have a valid host name';
  const isPrivate = privateSuffixes.some((suffix) => host === suffix || host.endsWith(`.${suffix}`));
  return isPrivate && !mayBePrivate(host) ? 'must have a public host name' : null;
}

function addressProblem(address: string): string | null {
  if (!isIPv4(address) && !isIPv6(address)) return 'must have a valid host name or IP address';
  // WHATWG's serialisation is the canonical one of RFC 5952. Other spellings of the address are refused.
  const canonical = isIPv4(address) || URL.parse(`https://[${address}]/`)?.hostname === `[${address}]`;
  if (!canonical) return 'must spell the IP address in its canonical form';
  return isPublicAddress(address) ? null : 'must be a public address';
}
