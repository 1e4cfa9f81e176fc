import { getServers, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isPublicAddress } from '@quittance/contracts/public-address.ts';
import { withTimeout } from '@quittance/runtime/concurrency/deadline.ts';
import { DialError, NameNotFound } from './errors.ts';

/**
 * Looks a host name up: all its IPv4 and IPv6 addresses, none when the name exists without one. In `timeoutMs` it returns what it knows.
 * @throws NameNotFound when the name does not exist; anything else when the resolver did not answer.
 */
export type Resolve = (name: string, timeoutMs: number) => Promise<string[]>;

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
    return await withTimeout(timeoutMs, resolve(host, timeoutMs));
  } catch (error) {
    if (error instanceof DialError) throw error;
    throw new DialError('dns_error', `${host} could not be resolved`, { cause: error });
  }
}

/** The answer to one of the two queries for a name. */
type Answer = { addresses: string[]; problem: unknown };

/** Some name servers never answer that a name has no IPv6 address. */
const IPV6_AFTER_IPV4_MS = 500;
/** The other way round is a slow answer, and without IPv4 many machines cannot reach the receiver: it gets this part of the time. */
const IPV4_AFTER_IPV6_SHARE = 2 / 3;
/** A question is lost, or its server is dead: it is put to the next server as well, while the first may still answer. */
const ASK_AGAIN_MS = 1_000;

/**
 * Asks the machine's name servers directly. Unlike getaddrinfo it knows no hosts file and no search domains, so a name means the
 * same here as outside, and it takes no thread while a server is slow.
 * @param options.servers `address:port` of other name servers, if there are any.
 */
export function systemResolve({ servers = [] }: { servers?: string[] } = {}): Resolve {
  const inOrder = servers.length > 0 ? servers : getServers();
  const secondFirst = [...inOrder.slice(1), ...inOrder.slice(0, 1)];
  const ask = (family: Family, name: string) =>
    firstConclusive(question(family, name, inOrder), () => question(family, name, secondFirst));
  return async (name, timeoutMs) => {
    const answers = await inTime(ask('resolve4', name), ask('resolve6', name), timeoutMs * IPV4_AFTER_IPV6_SHARE);
    const addresses = answers.flatMap((answer) => answer.addresses);
    if (addresses.length > 0) return addresses;
    const unanswered = answers.find((answer) => !isConclusive(answer));
    if (unanswered !== undefined) throw new Error(`${name}: no resolver answered`, { cause: unanswered.problem });
    throw new NameNotFound(name);
  };
}

type Family = 'resolve4' | 'resolve6';

/**
 * Puts one question to one resolver of its own. A resolver that is used again learns from quick answers to wait a quarter of a second
 * only, and its own second try no longer listens for an answer to the first.
 */
function question(family: Family, name: string, servers: readonly string[]): Promise<Answer> {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: 1 });
  if (servers.length > 0) resolver.setServers(servers);
  return resolver[family](name).then(
    (addresses) => ({ addresses, problem: null }),
    (problem: unknown) => ({ addresses: [], problem }),
  );
}

/** The first of two answers that says anything about the name; the second question is put unless the first is soon answered so. */
async function firstConclusive(first: Promise<Answer>, askAgain: () => Promise<Answer>): Promise<Answer> {
  const early = await withTimeout(ASK_AGAIN_MS, first).catch(() => null);
  if (early !== null && isConclusive(early)) return early;
  const conclusive = [first, askAgain()].map(async (question) => {
    const answer = await question;
    if (!isConclusive(answer)) throw new Error('nothing is known', { cause: answer.problem });
    return answer;
  });
  return Promise.any(conclusive).catch(() => first);
}

const isConclusive = ({ problem }: Answer): boolean => problem === null || isNoSuchName(problem);

/**
 * Both answers; once one of them has addresses the other may be missing. Only addresses that were checked are dialled, so an answer
 * that is withheld hides nothing.
 */
async function inTime(four: Promise<Answer>, six: Promise<Answer>, fourAfterSixMs: number): Promise<Answer[]> {
  const known: Answer[] = [];
  const all = Promise.all([four, six].map(async (question) => void known.push(await question)));
  const found = (question: Promise<Answer>, otherMs: number) =>
    question.then(({ addresses }) => (addresses.length > 0 ? withTimeout(otherMs, all).catch(() => undefined) : all));
  await Promise.race([all, found(four, IPV6_AFTER_IPV4_MS), found(six, fourAfterSixMs)]);
  return known;
}

/** NXDOMAIN, or a name without addresses. SERVFAIL, REFUSED and a timeout prove nothing about the name. */
function isNoSuchName(problem: unknown): boolean {
  const { code } = problem as { code?: unknown };
  return code === 'ENOTFOUND' || code === 'ENODATA' || code === 'EBADNAME';
}
