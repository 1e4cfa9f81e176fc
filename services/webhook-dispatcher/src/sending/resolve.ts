import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isPublicAddress } from '@quittance/contracts/public-address.ts';
import { withTimeout } from '@quittance/runtime/concurrency/deadline.ts';
import { DialError, NameNotFound } from './errors.ts';

/**
 * Looks a host name up: all its IPv4 and IPv6 addresses, none when the name exists without one.
 * @throws NameNotFound when the name does not exist; anything else when the resolver did not answer.
 */
export type Resolve = (name: string) => Promise<string[]>;

/** For an attempt: no caller waits for it. */
const DNS_TIMEOUT_MS = 3_000;

/**
 * The addresses at which a host may be dialled: all of them public, or none at all. One private address among several is enough
 * to refuse the host, because the owner of the name chooses the order.
 * @param host lowercase name, or an address, which is checked without a query.
 * @param timeoutMs for the resolver, 3000 by default.
 * @throws NameNotFound; DialError `dns_error` or `blocked_address`.
 */
export async function publicAddresses(
  host: string,
  resolve: Resolve,
  timeoutMs: number = DNS_TIMEOUT_MS,
): Promise<string[]> {
  const addresses = isIP(host) === 0 ? await resolveInTime(host, resolve, timeoutMs) : [host];
  if (addresses.length === 0) throw new NameNotFound(host);
  const blocked = addresses.find((address) => !isPublicAddress(address));
  if (blocked !== undefined) throw new DialError('blocked_address', `${host} leads to ${blocked}, which is not public`);
  return addresses;
}

async function resolveInTime(host: string, resolve: Resolve, timeoutMs: number): Promise<string[]> {
  try {
    return await withTimeout(timeoutMs, resolve(host));
  } catch (error) {
    if (error instanceof DialError) throw error;
    throw new DialError('dns_error', `${host} could not be resolved`, { cause: error });
  }
}

/** The answer to one of the two queries for a name. */
type Answer = { addresses: string[]; problem: unknown };

/** Some name servers never answer that a name has no address of the other family. */
const SECOND_ANSWER_MS = 500;

/**
 * Asks the machine's name servers directly. Unlike getaddrinfo it knows no hosts file and no search domains, so a name means the
 * same here as outside, and it takes no thread while a server is slow.
 * @param options.servers `address:port` of other name servers, if there are any.
 */
export function systemResolve({ servers = [] }: { servers?: string[] } = {}): Resolve {
  const resolver = new Resolver({ timeout: 1_000, tries: 2 });
  if (servers.length > 0) resolver.setServers(servers);
  return async (name) => {
    const answers = await inTime([resolver.resolve4(name), resolver.resolve6(name)].map(answerOf));
    const addresses = answers.flatMap((answer) => answer.addresses);
    if (addresses.length > 0) return addresses;
    const unanswered = answers.find(({ problem }) => problem !== null && !isNoSuchName(problem));
    if (unanswered !== undefined) throw new Error(`${name}: no resolver answered`, { cause: unanswered.problem });
    throw new NameNotFound(name);
  };
}

const answerOf = (question: Promise<string[]>): Promise<Answer> =>
  question.then(
    (addresses) => ({ addresses, problem: null }),
    (problem: unknown) => ({ addresses: [], problem }),
  );

/**
 * Both answers; once one of them has addresses the other may be missing. Only addresses that were checked are dialled, so an answer
 * that is withheld hides nothing.
 */
async function inTime(questions: Promise<Answer>[]): Promise<Answer[]> {
  const known: Answer[] = [];
  const all = Promise.all(questions.map(async (question) => void known.push(await question)));
  const found = questions.map(async (question) => ((await question).addresses.length > 0 ? undefined : await all));
  await Promise.race(found);
  await withTimeout(SECOND_ANSWER_MS, all).catch(() => undefined);
  return known;
}

/** NXDOMAIN, or a name without addresses. SERVFAIL, REFUSED and a timeout prove nothing about the name. */
function isNoSuchName(problem: unknown): boolean {
  const { code } = problem as { code?: unknown };
  return code === 'ENOTFOUND' || code === 'ENODATA' || code === 'EBADNAME';
}
