import { isIPv4, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { parseEndpointUrl } from '@quittance/contracts/endpoint-url.ts';
import { isId } from '@quittance/contracts/ids.ts';
import { blockList } from '@quittance/contracts/public-address.ts';
import { lookup } from 'node:dns/promises';
import { NOTIFIER, serviceNames } from '@quittance/contracts/service-name.ts';
import { withTimeout } from '@quittance/runtime/concurrency/deadline.ts';
import { ConfigurationError } from '@quittance/runtime/settings.ts';

/**
 * The address and port of one merchant's receiver in a private network, under one host name. Operators allow these exceptions.
 * `merchantId` is null for the notifier, which is for every merchant.
 */
export type PrivateTarget = { merchantId: string | null; host: string; address: string; port: number };

/** Each has its own connections. */
const MAX_TARGETS = 100;

/** Private networks: RFC 1918, RFC 6598 (also for overlay networks), RFC 4193. All other addresses are refused. */
const open4 = blockList('ipv4', ['10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.168.0.0/16']);
const open6 = blockList('ipv6', ['fc00::/7']);
/** Metadata services of clouds inside these ranges: Alibaba (and Tailscale's own range), AWS, Google. */
const metadata4 = blockList('ipv4', ['100.100.100.0/24']);
const metadata6 = blockList('ipv6', ['fd00:ec2::/32', 'fd20:ce::/32']);

/** The merchant's own entry for this host name. */
export const findPrivateTarget = <T extends PrivateTarget>(
  targets: readonly T[],
  merchantId: string,
  host: string | null,
): T | undefined => targets.find((target) => (target.merchantId ?? merchantId) === merchantId && target.host === host);

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

/**
 * Reads WEBHOOK_NOTIFIER: `host=address:port`, with the rules of private targets.
 * @throws Error with what is wrong.
 */
export function parseNotifier(text: string, own: readonly string[] = ownAddresses()): PrivateTarget {
  const target = parseEntry(`${NOTIFIER}@${text}`);
  if (target === null) throw new Error('must be host=address:port');
  const problem = problemOf({ ...target, merchantId: null }, { own, targets: [] });
  if (problem !== null) throw new Error(problem);
  return { ...target, merchantId: null };
}

const entryForm = /^([^@=]+)@([^@=]+)=(?:([\d.]+)|\[([\da-f:]+)\]):(\d{1,5})$/;

function parseEntry(entry: string): (PrivateTarget & { merchantId: string }) | null {
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
  if (merchantId !== null && !isId('mer', merchantId)) return 'must name a merchant by its id';
  if (!isHostName(host)) return 'must have a host name with a dot, in lowercase';
  if (port < 1 || port > 65_535) return 'must have a port from 1 to 65535';
  if (!isPrivateAddress(address)) {
    return "must have an address in 10/8, 172.16/12, 192.168/16, 100.64/10 or fc00::/7 that is not its cloud's, in its usual spelling";
  }
  if (own.includes(address)) return 'must not have an address of this machine';
  if (targets.some((other) => other.merchantId === merchantId && other.host === host))
    return 'repeats the merchant and host of an entry before it';
  return null;
}

/** A host name that an endpoint's URL may have, including names of private networks. */
function isHostName(host: string): boolean {
  const check = parseEndpointUrl(`https://${host}/`, () => true);
  return check.ok && check.endpoint.host === host && !isIPv4(host) && !isIPv6(host);
}

/** IPv6 must be in the spelling in which a socket reports its peer's address. */
function isPrivateAddress(address: string): boolean {
  if (isIPv4(address)) return open4.check(address, 'ipv4') && !metadata4.check(address, 'ipv4');
  // No zone, and no embedded IPv4 address: each family has its own list.
  if (!isIPv6(address) || URL.parse(`https://[${address}]/`)?.hostname !== `[${address}]`) return false;
  return open6.check(address, 'ipv6') && !metadata6.check(address, 'ipv6');
}

/** Of all interfaces. */
export function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address));
}

const LOOK_UP_TIMEOUT_MS = 5_000;

/**
 * Refuses private targets that lead to the database, the broker or our services, which are in the same networks. It looks their addresses up
 * with the machine's resolver, like every other program here.
 * @param urls of the database and the broker.
 * @throws ConfigurationError
 */
export async function refuseOwnServers(targets: readonly PrivateTarget[], urls: readonly string[]): Promise<void> {
  if (targets.length === 0) return;
  const hosts = [...urls.flatMap(hostsIn), ...serviceNames];
  const known = await Promise.all(hosts.map(async (host) => ({ host, addresses: await addressesOf(host) })));
  const problems = targets.flatMap((target) => {
    const server = known.find(({ addresses }) => addresses.includes(target.address));
    return server ? [`WEBHOOK_PRIVATE_TARGETS: ${addressOf(target)} is an address of ${server.host}`] : [];
  });
  if (problems.length > 0) throw new ConfigurationError(problems);
}

/** A PostgreSQL URL may name several hosts, also in a parameter. */
function hostsIn(url: string): string[] {
  const { hostname, searchParams } = new URL(url);
  const named = [hostname, ...searchParams.getAll('host')].flatMap((hosts) => hosts.split(','));
  return named.map((host) => host.replace(/^\[|\]$|:\d+$/g, '')).filter((host) => host !== '' && !host.startsWith('/'));
}

/** None for an unknown name: most machines do not know the services' names, and the backends have just answered. */
async function addressesOf(host: string): Promise<string[]> {
  const found = lookup(host, { all: true }).then((answers) => answers.map(({ address }) => address));
  return withTimeout(LOOK_UP_TIMEOUT_MS, found).catch(() => []);
}
