import { lookup } from 'node:dns/promises';
import { serviceNames } from '@quittance/contracts/service-name.ts';
import { withTimeout } from '@quittance/runtime/concurrency/deadline.ts';
import { ConfigurationError } from '@quittance/runtime/settings.ts';
import { addressOf, type PrivateTarget } from './private-targets.ts';

const LOOK_UP_TIMEOUT_MS = 5_000;

/**
 * A private target must be a shop's. The database, the broker and our services are in the same networks, and no entry may lead to one:
 * their addresses are looked up as everything on this machine looks them up.
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

/** A URL of PostgreSQL may name several hosts, and in a parameter. */
function hostsIn(url: string): string[] {
  const { hostname, searchParams } = new URL(url);
  const named = [hostname, ...searchParams.getAll('host')].flatMap((hosts) => hosts.split(','));
  return named.map((host) => host.replace(/^\[|\]$|:\d+$/g, '')).filter((host) => host !== '' && !host.startsWith('/'));
}

/** None for a name that this machine does not know: most do not know the services', and the backends have just answered. */
async function addressesOf(host: string): Promise<string[]> {
  const found = lookup(host, { all: true }).then((answers) => answers.map(({ address }) => address));
  return withTimeout(LOOK_UP_TIMEOUT_MS, found).catch(() => []);
}
