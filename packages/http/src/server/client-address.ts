import { BlockList, isIP, isIPv4 } from 'node:net';

import type { RouteRequest } from './route.ts';

/** The proxies whose forwarded address counts. */
export type TrustedProxies = Pick<BlockList, 'check'>;

/**
 * @param text addresses and networks such as 10.0.0.0/8, separated by commas; empty for none.
 * @throws Error that names an entry that is neither. The network of all addresses is refused: it would let every client choose its address.
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
 * Where a request comes from. From a trusted proxy it is the last address in X-Forwarded-For that is no such proxy: the client may have made
 * up whatever stands before it.
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
 * What limits count a client by: its IPv4 address, or the first 64 bits of its IPv6 address, because one client usually has all addresses of
 * such a block.
 */
export function clientBlock(address: string): string {
  const plain = unmapped(address);
  if (isIP(plain) !== 6) return plain;
  // The host of a URL is the shortest spelling, so that one block has one name.
  const [head = '', tail = ''] = new URL(`http://[${plain.split('%')[0]}]`).hostname.slice(1, -1).split('::');
  const groups = head === '' ? [] : head.split(':');
  const rest = tail === '' ? [] : tail.split(':');
  const whole = [...groups, ...Array.from({ length: 8 - groups.length - rest.length }, () => '0'), ...rest];
  return `${whole.slice(0, 4).join(':')}::/64`;
}

/** Sockets that listen for both families show an IPv4 address as an IPv6 one. */
const unmapped = (address: string): string => address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv4(address) ? 'ipv4' : 'ipv6');

const isTrusted = (address: string, trusted: TrustedProxies): boolean =>
  isIP(address) !== 0 && trusted.check(address, familyOf(address));
