import { isIPv4, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { parseEndpointUrl } from '@quittance/contracts/endpoint-url.ts';
import { isId } from '@quittance/contracts/ids.ts';
import { blockList } from '@quittance/contracts/public-address.ts';

/** The one address and port in a private network at which one merchant's receiver of one name is. An operator's exception. */
export type PrivateTarget = { merchantId: string; host: string; address: string; port: number };

/** Each has connections of its own. */
const MAX_TARGETS = 100;

/** Where private networks are: RFC 1918, RFC 6598 (also what overlay networks use), RFC 4193. All others are refused. */
const open4 = blockList('ipv4', ['10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.168.0.0/16']);
const open6 = blockList('ipv6', ['fc00::/7']);
/** Inside of these, where clouds answer their machines: Alibaba (and what Tailscale keeps for itself), AWS, Google. */
const metadata4 = blockList('ipv4', ['100.100.100.0/24']);
const metadata6 = blockList('ipv6', ['fd00:ec2::/32', 'fd20:ce::/32']);

/** The entry of a merchant's own receiver of that name, and nobody else's. */
export const findPrivateTarget = <T extends PrivateTarget>(
  targets: readonly T[],
  merchantId: string,
  host: string | null,
): T | undefined => targets.find((target) => target.merchantId === merchantId && target.host === host);

/** `address:port`. */
export const addressOf = ({ address, port }: PrivateTarget): string =>
  `${isIPv6(address) ? `[${address}]` : address}:${port}`;

/**
 * Reads WEBHOOK_PRIVATE_TARGETS: `merchant_id@host=address:port`, separated by commas, IPv6 in brackets.
 * @param own the addresses of this machine.
 * @throws Error with what is wrong with each entry.
 */
export function parsePrivateTargets(text: string, own: readonly string[] = ownAddresses()): PrivateTarget[] {
  const entries = text.split(',');
  if (entries.length > MAX_TARGETS) throw new Error(`must hold at most ${MAX_TARGETS} entries`);
  const targets: PrivateTarget[] = [];
  const problems: string[] = [];
  for (const [index, entry] of entries.entries()) {
    const target = parseEntry(entry.trim());
    const problem = target === null ? 'must be merchant_id@host=address:port' : problemOf(target, { own, targets });
    if (problem !== null) problems.push(`entry ${index + 1} ${problem}`);
    else if (target !== null) targets.push(target);
  }
  if (problems.length > 0) throw new Error(problems.join('; '));
  return targets;
}

const entryForm = /^([^@=]+)@([^@=]+)=(?:([\d.]+)|\[([\da-f:]+)\]):(\d{1,5})$/;

function parseEntry(entry: string): PrivateTarget | null {
  const [, merchantId, host, address4, address6, port] = entryForm.exec(entry) ?? [];
  const address = address4 ?? address6;
  if (merchantId === undefined || host === undefined || address === undefined) return null;
  return { merchantId, host, address, port: Number(port) };
}

function problemOf(
  target: PrivateTarget,
  { own, targets }: { own: readonly string[]; targets: readonly PrivateTarget[] },
): string | null {
  const { merchantId, host, address, port } = target;
  if (!isId('mer', merchantId)) return 'must name a merchant by its id';
  if (!isHostName(host)) return 'must have a host name with a dot, in lowercase';
  if (port < 1 || port > 65_535) return 'must have a port from 1 to 65535';
  if (!isPrivateAddress(address)) {
    return "must have an address in 10/8, 172.16/12, 192.168/16, 100.64/10 or fc00::/7 that is not its cloud's, in its usual spelling";
  }
  if (own.includes(address)) return 'must not have an address of this machine';
  if (findPrivateTarget(targets, merchantId, host)) return 'repeats the merchant and host of an entry before it';
  return null;
}

/** As the URL of an endpoint may have it, where names that only mean something inside a network are allowed too. */
function isHostName(host: string): boolean {
  const check = parseEndpointUrl(`https://${host}/`, () => true);
  return check.ok && check.endpoint.host === host && !isIPv4(host) && !isIPv6(host);
}

/** IPv6 in the one spelling that a socket reports its peer's address in. */
function isPrivateAddress(address: string): boolean {
  if (isIPv4(address)) return open4.check(address, 'ipv4') && !metadata4.check(address, 'ipv4');
  // Not with a zone, and none that embeds an IPv4 address: the lists of the two families are apart.
  if (!isIPv6(address) || URL.parse(`https://[${address}]/`)?.hostname !== `[${address}]`) return false;
  return open6.check(address, 'ipv6') && !metadata6.check(address, 'ipv6');
}

/** Of all interfaces. */
export function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address));
}
