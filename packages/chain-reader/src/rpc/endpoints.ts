import { setTimeout as sleep } from 'node:timers/promises';
import type { EndpointStatus } from '@quittance/contracts/http/chain-watcher/chains.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { createEndpointMetrics, type EndpointMetrics } from './endpoint-stats.ts';
import { createEndpoint, EndpointSkipped, type Endpoint, type Read } from './endpoint.ts';
import { RpcError } from './errors.ts';
import { bestHead, lagBlocks, lags, type Head } from './heads.ts';
import type { RpcNetwork } from './network.ts';
import { createPacer } from './throttle.ts';

export type Endpoints = ReturnType<typeof createEndpoints>;

/** An endpoint is asked for its head when its last report is this much older than the newest one. Also how often that is checked. */
const PROBE_INTERVAL_MS = 5_000;
/** Longer than the time between two looks at any network. */
const MAX_SHOWN_HEAD_AGE_MS = 300_000;
/** Longest that a read waits for the end of a cooldown when no other endpoint can answer. */
const MAX_COOLDOWN_WAIT_MS = 2_000;

/**
 * The nodes of one network, best first. The order is that of the networks file, except that endpoints come last when they lag, have used up
 * their budget, are ahead of their daily budget or are just recovering. An endpoint that cools down, or whose circuit is open, is not asked
 * until that ends.
 */
export function createEndpoints(options: {
  network: RpcNetwork;
  timeoutMs: number;
  logger: Logger;
  metrics: Metrics;
  probeIntervalMs?: number;
  /** See EndpointOptions. */
  onFalse?: (endpoint: number, what: string) => void;
}) {
  const { network, timeoutMs, logger, probeIntervalMs = PROBE_INTERVAL_MS, onFalse } = options;
  const metrics = createEndpointMetrics(options.metrics);
  const endpoints = network.endpoints.map((node, position) =>
    createEndpoint({
      ...{ network, position, node, timeoutMs, logger, metrics },
      onFalse: (what) => onFalse?.(position, what),
    }),
  );
  const closing = new AbortController();
  const best = () =>
    bestHead(endpoints.map((endpoint) => ({ head: endpoint.head(), isTrusted: endpoint.isTrusted() })));
  const ask = <T>(read: Read<T>, among: readonly Endpoint[], enough: (answers: readonly T[]) => boolean) =>
    askInTurn(read, { candidates: inOrder(among, best()), enough, signal: closing.signal });
  const stopProbing = startProbing({ network: network.id, endpoints, best, intervalMs: probeIntervalMs, logger });
  options.metrics.beforeScrape(() => report(metrics, network.id, endpoints, best()));
  const others = (than: number | undefined) => endpoints.filter(({ position }) => position !== than);
  // If there is only one endpoint, it is always asked.
  const nextOf = (among: readonly Endpoint[]) => inOrder(among.length > 0 ? among : endpoints, best())[0];
  const mayBegin = createPacer((urgency, than) => nextOf(others(than))?.dayWaitMs(urgency) ?? 0);

  return {
    /** See createPacer(). Work that a person waits for starts without this check. */
    mayBegin,
    /**
     * Runs a read on the first endpoint that can do it. If it fails or the endpoint contradicts itself, the whole read starts again on the
     * next endpoint, so that one read never mixes the answers of two nodes.
     * @param read may throw RpcError `invalid_answer` to reject the endpoint's answer.
     * @throws RpcError of the last endpoint, or `unsupported` if one answers only smaller requests. RpcError `range` immediately, so that the
     *   caller asks for less. Any other error of `read` immediately.
     */
    async ask<T>(read: Read<T>): Promise<T> {
      const [answer] = await ask(read, endpoints, () => true);
      return answer as T;
    },
    /**
     * As ask(), but one answer may not be enough, for example that a node does not know something. The next endpoints are asked, too, until
     * the answers so far are `enough`.
     * @param than the endpoint at this position is not asked; the network must have another one.
     * @returns all answers, in the order in which the endpoints were asked; at least one.
     */
    askUntil: <T>(read: Read<T>, enough: (answers: readonly T[]) => boolean, than?: number): Promise<T[]> =>
      ask(read, others(than), enough),
    /** As ask(), but never asks the endpoint at this position. @returns null when the network has no other one. */
    async askAnother<T>(read: Read<T>, than: number): Promise<T | null> {
      const among = others(than);
      if (among.length === 0) return null;
      const [answer] = await ask(read, among, () => true);
      return answer as T;
    },
    /**
     * Runs a look-up on the endpoints that have budget for it, one after the other, until an answer is `enough`. Anyone may ask about
     * anything, so a look-up does not wait for an endpoint, and does not change how the scan rates one.
     * @param share an endpoint that has used this share of its daily look-ups is not asked.
     * @returns the answers; none when no endpoint had budget, or none answered.
     */
    lookUp: <T>(read: Read<T>, enough: (answer: T) => boolean, share = 1): Promise<T[]> =>
      lookUpInTurn(read, inOrder(endpoints, best()), enough, share),
    /** The highest head that an endpoint has shown lately, preferably a trusted one; null when there is none. */
    head: (): Head | null =>
      best() ?? bestHead(endpoints.map((endpoint) => ({ head: shownHead(endpoint), isTrusted: true }))),
    /** For each endpoint with a daily limit: one budget for everything, and one for the part that look-ups may use. */
    dailyBudgets: () => endpoints.flatMap(budgetsOf),
    states(): EndpointStatus[] {
      const head = best();
      return endpoints.map((endpoint) => endpoint.state(head));
    },
    close(): void {
      closing.abort();
      stopProbing();
      for (const endpoint of endpoints) endpoint.close();
    },
  };
}

async function lookUpInTurn<T>(
  read: Read<T>,
  candidates: readonly Endpoint[],
  enough: (answer: T) => boolean,
  share: number,
): Promise<T[]> {
  const answers: T[] = [];
  for (const endpoint of candidates) {
    if (!endpoint.canLookUp(share)) continue;
    try {
      const answer = await endpoint.lookUp(read);
      answers.push(answer);
      if (enough(answer)) break;
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
    }
  }
  return answers;
}

function budgetsOf({ position, dailyBudget, lookUpBudget }: Endpoint) {
  if (dailyBudget === null || lookUpBudget === null) return [];
  return [
    { position, dailyBudget, purpose: 'all' as const },
    { position, dailyBudget: lookUpBudget, purpose: 'look-ups' as const },
  ];
}

/** An old head would look like a chain that has stopped. */
const shownHead = (endpoint: Endpoint): Head | null =>
  endpoint.headAgeMs() < MAX_SHOWN_HEAD_AGE_MS ? endpoint.head() : null;

function report(metrics: EndpointMetrics, network: string, endpoints: readonly Endpoint[], best: Head | null): void {
  for (const endpoint of endpoints) {
    const label = { network, endpoint: String(endpoint.position) };
    metrics.available.set(label, endpoint.status() === 'closed' ? 1 : 0);
    metrics.headLag.set(label, lagBlocks(endpoint.head(), best));
    const own = shownHead(endpoint);
    if (own === null) metrics.head.remove(label);
    else metrics.head.set(label, own.number);
    if (endpoint.dailyBudget === null) continue;
    metrics.budgetUsed.set(label, endpoint.dailyBudget.usedShare());
    metrics.budgetAhead.set(label, endpoint.dailyBudget.ahead());
  }
}

/** Which endpoints to ask first. None is left out, because each reason to ask one later is temporary. */
function inOrder(endpoints: readonly Endpoint[], best: Head | null): Endpoint[] {
  const rank = (endpoint: Endpoint): number => {
    const status = endpoint.status();
    if (status === 'open') return 4;
    if (status === 'cooling_down') return 3;
    // It may run into the deadline again. Probing finds out while no read waits.
    if (status === 'half_open') return 2;
    return lags(endpoint.head(), best) ? 1 : 0;
  };
  return endpoints
    .map((endpoint) => ({
      ...{ endpoint, rank: rank(endpoint) },
      ...{ cooldownMs: endpoint.cooldownMs(), budgetMs: endpoint.budgetMs(), dayMs: endpoint.dayWaitMs('background') },
    }))
    .sort((a, b) => a.rank - b.rank || a.cooldownMs - b.cooldownMs || a.dayMs - b.dayMs || a.budgetMs - b.budgetMs)
    .map(({ endpoint }) => endpoint);
}

/** @returns at least one answer. */
async function askInTurn<T>(
  read: Read<T>,
  {
    candidates,
    enough,
    signal,
  }: { candidates: readonly Endpoint[]; enough: (answers: readonly T[]) => boolean; signal: AbortSignal },
): Promise<T[]> {
  let failure: RpcError | null = null;
  let skipped: EndpointSkipped | null = null;
  const answers: T[] = [];
  for (const endpoint of candidates) {
    try {
      await afterCooldown(endpoint, answers.length > 0 ? 0 : MAX_COOLDOWN_WAIT_MS, signal);
      answers.push(await endpoint.run(read));
      if (enough(answers)) break;
    } catch (error) {
      // The caller makes a request smaller that is too large. An error that is not the node's is not retried.
      if (!(error instanceof RpcError) || error.kind === 'range') throw error;
      if (error instanceof EndpointSkipped) skipped ??= error;
      // The others may be down for long, and this one would answer a smaller request.
      else if (failure?.kind !== 'unsupported') failure = error;
    }
  }
  if (answers.length === 0) throw failure ?? skipped ?? new Error('a network has at least one endpoint');
  return answers;
}

/** @throws EndpointSkipped immediately when the cooldown is longer than `maxWaitMs`. */
async function afterCooldown(endpoint: Endpoint, maxWaitMs: number, signal: AbortSignal): Promise<void> {
  const cooldownMs = endpoint.cooldownMs();
  if (cooldownMs > maxWaitMs) throw new EndpointSkipped('rate_limit', 'the endpoint cools down after a refusal');
  if (cooldownMs > 0) await sleep(cooldownMs, undefined, { signal }).catch(() => undefined);
}

/**
 * Asks endpoints for their head if another one, which is preferred to them, has reported its head more recently. This shows when the preferred
 * one is stuck at an old head, or when a failed one has recovered, and only heads of about the same time are compared. An endpoint is asked
 * only as often as the chain is polled, and not at all while it is not polled. A network with one endpoint has nothing to compare.
 * @returns a function that stops it.
 */
function startProbing(options: {
  network: string;
  endpoints: readonly Endpoint[];
  best: () => Head | null;
  intervalMs: number;
  logger: Logger;
}): () => void {
  const { network, endpoints, best, intervalMs, logger } = options;
  const probed = new Set<Endpoint>();
  const lagging = new Set<Endpoint>();

  async function probe(endpoint: Endpoint): Promise<void> {
    const newestMs = Math.min(...endpoints.map((each) => each.headAgeMs()));
    // A slow endpoint is not asked again before it has answered. Until a head is known, there is nothing to compare with.
    if (probed.has(endpoint) || !(endpoint.headAgeMs() - newestMs > intervalMs)) return;
    probed.add(endpoint);
    await endpoint.probe();
    probed.delete(endpoint);
  }

  function logLag(endpoint: Endpoint): void {
    const head = best();
    const isLate = lags(endpoint.head(), head);
    if (isLate === lagging.has(endpoint)) return;
    const fields = { network, endpoint: endpoint.position, lag_blocks: lagBlocks(endpoint.head(), head) };
    if (isLate) logger.warn(fields, 'endpoint lags behind the others');
    else logger.info(fields, 'endpoint has caught up');
    if (isLate) lagging.add(endpoint);
    else lagging.delete(endpoint);
  }

  if (endpoints.length < 2) return () => undefined;
  const timer = setInterval(() => {
    for (const endpoint of endpoints) void probe(endpoint).then(() => logLag(endpoint));
  }, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}
