import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import type { RpcNetwork } from './network.ts';
import { NotAsked, createEndpoint, type Endpoint, type EndpointState, type Read } from './endpoint/endpoint.ts';
import { bestHead, lagBlocks, lags, type Head } from './endpoint/heads.ts';
import { createEndpointMetrics, type EndpointMetrics } from './endpoint/metrics.ts';
import { startProbing } from './endpoint/probe.ts';
import { RpcError } from './errors.ts';

/**
 * The nodes of one network, best first: in the order of the networks file, but those that lag behind the others, have used up their
 * budget or are just recovering come last. One that rests or has been set aside is not asked before its time is over.
 */
export type Endpoints = {
  /**
   * Runs a coherent piece of reading on the first endpoint that can do it. What fails or contradicts itself there is done
   * again, from its beginning, on the next one, so that one piece never mixes the views of two nodes.
   * @param read may throw RpcError `invalid_answer` to reject what the endpoint said.
   * @throws RpcError of the last endpoint; of kind `range` at once, so that whoever asks takes a smaller step; and any other error
   *   of `read` at once.
   */
  ask<T>(read: Read<T>): Promise<T>;
  /**
   * As ask(), but what one endpoint says need not be the last word, such as that it does not know something: the next ones are asked
   * as well, until what was answered so far is `enough`.
   * @returns every answer given, in the order in which they were asked; at least one.
   */
  askUntil<T>(read: Read<T>, enough: (answers: readonly T[]) => boolean): Promise<T[]>;
  /** As ask(), but never the endpoint at this position. @returns null when the network has no other one. */
  askAnother<T>(read: Read<T>, than: number): Promise<T | null>;
  states(): EndpointState[];
  close(): void;
};

/** How often endpoints that nobody asks are asked for their head. */
const PROBE_INTERVAL_MS = 5_000;
/** Longest that a read waits for the end of an endpoint's rest, when no other one can answer. */
const MAX_REST_WAIT_MS = 2_000;

export function createEndpoints(options: {
  network: RpcNetwork;
  timeoutMs: number;
  logger: Logger;
  metrics: Metrics;
  probeIntervalMs?: number;
}): Endpoints {
  const { network, timeoutMs, logger, probeIntervalMs = PROBE_INTERVAL_MS } = options;
  const metrics = createEndpointMetrics(options.metrics);
  const endpoints = network.endpoints.map((node, position) =>
    createEndpoint({ network, position, node, timeoutMs, logger, metrics }),
  );
  const closing = new AbortController();
  const best = () =>
    bestHead(endpoints.map((endpoint) => ({ head: endpoint.head(), isCredible: endpoint.isCredible() })));
  const ask = <T>(read: Read<T>, among: readonly Endpoint[], enough: (answers: readonly T[]) => boolean) =>
    askInTurn(read, { candidates: inOrder(among, best()), enough, signal: closing.signal });
  const probing = startProbing({ network, endpoints, best, intervalMs: probeIntervalMs, logger });
  options.metrics.beforeScrape(() => report(network.id, endpoints, best(), metrics));

  return {
    async ask<T>(read: Read<T>) {
      const [answer] = await ask(read, endpoints, () => true);
      return answer as T;
    },
    askUntil: (read, enough) => ask(read, endpoints, enough),
    async askAnother<T>(read: Read<T>, than: number) {
      const others = endpoints.filter(({ position }) => position !== than);
      if (others.length === 0) return null;
      const [answer] = await ask(read, others, () => true);
      return answer as T;
    },
    states() {
      const head = best();
      return endpoints.map((endpoint) => endpoint.state(head));
    },
    close() {
      closing.abort();
      probing.close();
      for (const endpoint of endpoints) endpoint.close();
    },
  };
}

/** Whom to ask first. Nobody is left out: every reason for standing back passes. */
function inOrder(endpoints: readonly Endpoint[], best: Head | null): Endpoint[] {
  const rank = (endpoint: Endpoint): number => {
    const standing = endpoint.standing();
    if (standing === 'open') return 4;
    if (standing === 'resting') return 3;
    // It may well let us wait for a whole deadline again; probing finds out at nobody's expense.
    if (standing === 'half_open') return 2;
    return lags(endpoint.head(), best) ? 1 : 0;
  };
  return endpoints
    .map((endpoint) => ({ endpoint, rank: rank(endpoint), restMs: endpoint.restMs(), budgetMs: endpoint.budgetMs() }))
    .sort((a, b) => a.rank - b.rank || a.restMs - b.restMs || a.budgetMs - b.budgetMs)
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
  let reason: NotAsked | null = null;
  const answers: T[] = [];
  for (const endpoint of candidates) {
    try {
      await untilRested(endpoint, answers.length > 0 ? 0 : MAX_REST_WAIT_MS, signal);
      answers.push(await endpoint.run(read));
      if (enough(answers)) break;
    } catch (error) {
      // A question that is too large is ours to repair, and so is an error that is none of the node's.
      if (!(error instanceof RpcError) || error.kind === 'range') throw error;
      if (error instanceof NotAsked) reason ??= error;
      else failure = error;
    }
  }
  if (answers.length === 0) throw failure ?? reason ?? new Error('a network has at least one endpoint');
  return answers;
}

/** @throws NotAsked at once when its rest is longer than that. */
async function untilRested(endpoint: Endpoint, maxWaitMs: number, signal: AbortSignal): Promise<void> {
  const restMs = endpoint.restMs();
  if (restMs > maxWaitMs) throw new NotAsked('rate_limit', 'the endpoint rests, as it was asked too often');
  if (restMs > 0) await sleep(restMs, undefined, { signal }).catch(() => undefined);
}

function report(network: string, endpoints: readonly Endpoint[], best: Head | null, metrics: EndpointMetrics): void {
  for (const endpoint of endpoints) {
    const label = { network, endpoint: String(endpoint.position) };
    metrics.available.set(label, endpoint.standing() === 'closed' ? 1 : 0);
    metrics.headLag.set(label, lagBlocks(endpoint.head(), best));
  }
}
