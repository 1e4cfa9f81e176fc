import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** Special-purpose IPv4 blocks (IANA registry), and the address through which Azure machines reach their host. */
const closedIPv4 = blockList('ipv4', [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]);

/** Global unicast. Addresses that embed or represent another address (mapped, NAT64, ULA, link-local) are outside. */
const openIPv6 = blockList('ipv6', ['2000::/3']);

/** Blocks that IANA reserves inside global unicast: protocol assignments, documentation, 6to4. */
const closedIPv6 = blockList('ipv6', ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']);

/**
 * Whether an address is on the public internet, so that webhooks may be sent to it.
 * @param address IPv4 or IPv6 as text, without brackets; one with a zone (`fe80::1%eth0`) is never public.
 */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !closedIPv4.check(address, 'ipv4');
  if (!isIPv6(address) || address.includes('%')) return false;
  return openIPv6.check(address, 'ipv6') && !closedIPv6.check(address, 'ipv6');
}

/** @param blocks in CIDR notation. */
export function blockList(family: 'ipv4' | 'ipv6', blocks: readonly `${string}/${number}`[]): BlockList {
  const list = new BlockList();
  for (const block of blocks) {
    const [address = '', prefix = ''] = block.split('/');
    list.addSubnet(address, Number(prefix), family);
  }
  return list;
}
