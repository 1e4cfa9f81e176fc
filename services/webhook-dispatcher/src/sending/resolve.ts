import { getServers, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isPublicAddress } from '@quittance/contracts/public-address.ts';
import { withTimeout } from '@quittance/runtime/concurrency/deadline.ts';
import { SendError, NameNotFound } from './errors.ts';

/**
 * Looks up all IPv4 and IPv6 addresses of a host name; none if the name has no address. After `timeoutMs` it returns those it knows.
 * @throws NameNotFound if the name does not exist; any other error if no resolver answered.
 */
export type Resolve = (name: string, timeoutMs: number) => Promise<string[]>;

/** For attempts, which no client waits for. */
const DNS_TIMEOUT_MS = 3_000;

/**
 * The addresses to dial for a host, all public. One private address among several refuses the host, because the owner of the name chooses
 * the order.
 * @param host a lowercase name, or an address, which is checked without a query.
 * @param timeoutMs for the resolver, 3000 by default.
 * @throws NameNotFound; SendError `dns_error` or `blocked_address`.
 */
export async function publicAddresses(
  host: string,
  resolve: Resolve,
  timeoutMs: number = DNS_TIMEOUT_MS,
): Promise<string[]> {
  const addresses = isIP(host) === 0 ? await resolveInTime(host, resolve, timeoutMs) : [host];
  if (addresses.length === 0) throw new NameNotFound(host);
  const blocked = addresses.find((address) => !isPublicAddress(address));
  if (blocked !== undefined) throw new SendError('blocked_address', `${host} leads to ${blocked}, which is not public`);
  return addresses;
}

async function resolveInTime(host: string, resolve: Resolve, timeoutMs: number): Promise<string[]> {
  try {
    return await withTimeout(timeoutMs, resolve(host, timeoutMs));
  } catch (error) {
    if (error instanceof SendError) throw error;
    throw new SendError('dns_error', `${host} could not be resolved`, { cause: error });
  }
}

/** The answer to one of the two queries for a name. */
type Answer = { addresses: string[]; problem: unknown };

/** Some name servers never answer that a name has no IPv6 address. */
const IPV6_AFTER_IPV4_MS = 500;
/** IPv4 gets longer after IPv6, this share of the time: a missing answer is only a slow one, and without IPv4 many machines cannot reach the receiver. */
const IPV4_AFTER_IPV6_SHARE = 2 / 3;
/** Without an answer the question also goes to the next server, while the first may still answer. */
const ASK_AGAIN_MS = 1_000;

/**
 * Asks the machine's name servers directly. Unlike getaddrinfo it reads no hosts file and no search domains, so a name means the same here as
 * elsewhere, and a slow server blocks no thread.
 * @param options.servers `address:port` of name servers to use instead.
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
 * Asks one question with a new resolver. A resolver that is used again learns from fast answers to wait only a quarter of a second, and after
 * its own second try it ignores an answer to the first.
 */
function question(family: Family, name: string, servers: readonly string[]): Promise<Answer> {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: 1 });
  if (servers.length > 0) resolver.setServers(servers);
  return resolver[family](name).then(
    (addresses) => ({ addresses, problem: null }),
    (problem: unknown) => ({ addresses: [], problem }),
  );
}

/** The first conclusive answer of two. The second question is asked if the first has no conclusive answer soon. */
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
 * Both answers; if one has addresses, the other may be missing. Only checked addresses are dialled, so a missing answer hides nothing.
 */
async function inTime(four: Promise<Answer>, six: Promise<Answer>, fourAfterSixMs: number): Promise<Answer[]> {
  const known: Answer[] = [];
  const all = Promise.all([four, six].map(async (question) => void known.push(await question)));
  const found = (question: Promise<Answer>, otherMs: number) =>
    question.then(({ addresses }) => (addresses.length > 0 ? withTimeout(otherMs, all).catch(() => undefined) : all));
  await Promise.race([all, found(four, IPV6_AFTER_IPV4_MS), found(six, fourAfterSixMs)]);
  return known;
}

/** NXDOMAIN, or a name without addresses. SERVFAIL, REFUSED and timeouts say nothing about the name. */
function isNoSuchName(problem: unknown): boolean {
  const { code } = problem as { code?: unknown };
  return code === 'ENOTFOUND' || code === 'ENODATA' || code === 'EBADNAME';
}
