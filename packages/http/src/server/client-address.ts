import { BlockList, isIP, isIPv4 } from 'node:net';

import type { RouteRequest } from './route.ts';

/** The proxies whose X-Forwarded-For is used. */
export type TrustedProxies = Pick<BlockList, 'check'>;

/**
 * @param text addresses and networks such as 10.0.0.0/8, separated by commas; empty for none.
 * @throws Error naming an entry that is neither. The network of all addresses is refused, because every client could
 *   then choose its address.
 */
export function parseTrustedProxies(text: string): TrustedProxies {
  const list = new BlockList();
  for (const entry of text.split(',').map((part) => part.trim())) {
    if (entry === '') continue;
    const [, address = '', prefix] = /^([^/%]+)(?:\/([1-9]\d{0,2}))?$/.exec(entry) ?? [];
    const bits = isIPv4(address) ? 32 : 128;
    if (isIP(address) === 0 || Number(prefix ?? bits) > bits)
      throw new Error(`must list addresses or networks such as 10.0.0.0/8, separated by commas; "${entry}" is neither`);
    list.addSubnet(address, Number(prefix ?? bits), familyOf(address));
  }
  return list;
}

/**
 * The address of the client. Behind a trusted proxy it is the last address in X-Forwarded-For that is not a trusted
 * proxy, because the client may have invented the addresses before it.
 */
export function clientAddress(
  { remoteAddress, headers }: Pick<RouteRequest, 'remoteAddress' | 'headers'>,
  trusted: TrustedProxies,
): string {
  let address = unmapped(remoteAddress);
  const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',');
  for (const hop of forwarded.map((entry) => unmapped(entry.trim())).toReversed()) {
    if (isIP(hop) === 0 || !isTrusted(address, trusted)) break;
    address = hop;
  }
  return address;
}

/**
 * The key by which limits count a client: its IPv4 address, or the first 64 bits of its IPv6 address, because one
 * client usually has all addresses of such a block.
 */
export function clientBlock(address: string): string {
  const plain = unmapped(address);
  if (isIP(plain) !== 6) return plain;
  // A URL's host is in the shortest spelling, so that a block has only one name.
  const [head = '', tail = ''] = new URL(`http://[${plain.split('%')[0]}]`).hostname.slice(1, -1).split('::');
  const groups = head === '' ? [] : head.split(':');
  const rest = tail === '' ? [] : tail.split(':');
  const whole = [...groups, ...Array.from({ length: 8 - groups.length - rest.length }, () => '0'), ...rest];
  return `${whole.slice(0, 4).join(':')}::/64`;
}

/** Sockets that listen for both families report an IPv4 address as IPv6. */
const unmapped = (address: string): string => address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv4(address) ? 'ipv4' : 'ipv6');

const isTrusted = (address: string, trusted: TrustedProxies): boolean =>
  isIP(address) !== 0 && trusted.check(address, familyOf(address));
