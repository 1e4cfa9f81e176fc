import type { EndpointStatus } from '@quittance/contracts/http/chain-watcher/chains.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import CircuitBreaker from 'opossum';
import { quantity } from './answers.ts';
import { createDailyBudget, type DailyBudget, type Urgency } from './daily-budget.ts';
import { createEndpointStats, type EndpointMetrics } from './endpoint-stats.ts';
import { RpcError, type RpcErrorKind } from './errors.ts';
import { createHeadTrust, lagBlocks, lags, type Head } from './heads.ts';
import { createLookUpAccess } from './look-up-access.ts';
import type { RpcNetwork, RpcNode } from './network.ts';
import { RpcProvider, type RpcProviderOptions } from './provider.ts';
import { readChainId, readHead } from './reads.ts';
import { createBudget, createCooldown } from './throttle.ts';

export type Read<T> = (rpc: RpcProvider) => Promise<T>;

/** `closed`, `open` and `half_open` are states of the circuit breaker: closed is healthy. `cooling_down`: it refused us for asking too often. */
type CircuitStatus = Exclude<EndpointStatus['state'], 'lagging'>;

export type Endpoint = ReturnType<typeof createEndpoint>;

/** The endpoint was not asked, because its circuit is open or it cools down. */
export class EndpointSkipped extends RpcError {}

export type EndpointOptions = {
  network: Pick<RpcNetwork, 'id' | 'chain_id' | 'isProven'>;
  position: number;
  node: Pick<RpcNode, 'url' | 'headers' | 'requestsPerSecond' | 'dailyPlan'>;
  timeoutMs: number;
  logger: Logger;
  metrics: EndpointMetrics;
  /** Called with an answer of the endpoint that is proved to be false, or when its answers keep contradicting themselves. */
  onFalse: (what: string) => void;
};

const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;
/** Longest that a read waits for an endpoint's budget. */
const MAX_BUDGET_WAIT_MS = 5_000;
/** A head that is older than this is not compared with the others. */
const MAX_HEAD_AGE_MS = 90_000;
const BREAKER = {
  // The transport has its own deadline, which also frees the connection.
  timeout: false,
  errorThresholdPercentage: 50,
  volumeThreshold: 3,
  resetTimeout: 2_000,
  rollingCountTimeout: 10_000,
  rollingPercentilesEnabled: false,
  enableSnapshots: false,
} as const;

/** Requests in a row without an answer that open the circuit. Each lasts as long as the window in which the breaker counts failures. */
const UNANSWERED = 2;

/** Errors that do not count against the endpoint: a request that is too large, a wait, or a block that only others have. */
const HARMLESS: readonly RpcErrorKind[] = ['range', 'rate_limit', 'no_budget', 'unknown_block'];

/** One node of a network and its state. Whether it lags depends on the others. */
export function createEndpoint({ network, position, node, timeoutMs, logger, metrics, onFalse }: EndpointOptions) {
  const label = { network: network.id, endpoint: String(position) };
  const budget = createBudget(node.requestsPerSecond, { maxWaitMs: MAX_BUDGET_WAIT_MS });
  const [cooldown, trust, stats] = [createCooldown(), createHeadTrust(), createEndpointStats(label, metrics, onFalse)];
  const { url, headers, dailyPlan: plan } = node;
  const dailyBudget = plan === null ? null : createDailyBudget(plan);
  const served = { chainId: network.chain_id, isProven: network.isProven, onFalse };
  const address = { endpoint: position, url, headers, ...served };
  const listenersWith = (budgets: readonly (DailyBudget | null)[]) => listeners(stats, budgets);
  const limits = { timeoutMs, maxResponseBytes: MAX_RESPONSE_BYTES, budget };
  const rpc = new RpcProvider({ ...address, ...limits, ...listenersWith([dailyBudget]) });
  const lookUps = createLookUpAccess({ address, plan, budget, dailyBudget, listenersWith });
  const circuit = createCircuit(rpc, network.chain_id, { label, cooldown, stats, logger });

  const status = () => statusOf(circuit.breaker, cooldown.leftMs());
  const dayWaitMs = (urgency: Urgency): number => dailyBudget?.waitMs(urgency) ?? 0;

  return {
    /** Position in the networks file, from 0. */
    position,
    status,
    /** @throws RpcError; EndpointSkipped while the circuit is open; and any other error of `read` as it is. */
    async run<T>(read: Read<T>): Promise<T> {
      const before = stats.headCount();
      const hasReportedHead = () => stats.headCount() > before;
      try {
        const answer = await circuit.fire(read);
        if (hasReportedHead()) trust.proven();
        return answer;
      } catch (error) {
        if (hasReportedHead() && isBrokenPromise(error)) trust.disproven();
        throw error;
      }
    },
    /** Whether it is healthy and has budget for a look-up. @param share of its daily look-ups that may be used, from 0 to 1. */
    canLookUp: (share: number) => status() === 'closed' && lookUps.hasBudget(share),
    /**
     * Runs a look-up. Its failure does not open the circuit: anyone can ask about any transaction, and a strange one must not stop the scan.
     * @throws RpcError
     */
    lookUp: <T>(read: Read<T>): Promise<T> => circuit.pass(() => read(lookUps.rpc)),
    /** Asks for its head, unless it cools down or has no spare budget. It never throws: failures show in the state. */
    async probe(): Promise<void> {
      if (cooldown.leftMs() > 0 || budget.waitMs(1) > 0 || dayWaitMs('background') > 0) return;
      await circuit.fire(readHead).catch(() => undefined);
    },
    /** Milliseconds until it may be asked again after a refusal. */
    cooldownMs: cooldown.leftMs,
    /** Milliseconds until its budget allows a call. */
    budgetMs: () => budget.waitMs(1),
    /** Milliseconds until the daily budget allows a read of this urgency. */
    dayWaitMs,
    /** Both are null when the plan has no daily limit. The second is the part of the first that look-ups may use. */
    dailyBudget,
    lookUpBudget: lookUps.dailyBudget,
    head: stats.head,
    /** Whether its head may make other endpoints count as lagging. */
    isTrusted: () => trust.isTrusted() && !circuit.breaker.opened && stats.headAgeMs() < MAX_HEAD_AGE_MS,
    /** Milliseconds since it last reported its head; infinite before the first time. */
    headAgeMs: stats.headAgeMs,
    state: (best: Head | null): EndpointStatus => ({
      endpoint: position,
      state: status() === 'closed' && lags(stats.head(), best) ? 'lagging' : status(),
      ...stats.facts(),
      head_lag_blocks: lagBlocks(stats.head(), best),
      cooldown_until: cooldown.leftMs() > 0 ? rfc3339(new Date(Date.now() + cooldown.leftMs())) : null,
      budget: dailyBudget === null ? null : budgetStatus(dailyBudget),
    }),
    close(): void {
      circuit.breaker.shutdown();
      budget.close();
      rpc.destroy();
      lookUps.rpc.destroy();
    },
  };
}

function listeners(
  stats: ReturnType<typeof createEndpointStats>,
  dailyBudgets: readonly (DailyBudget | null)[],
): Pick<RpcProviderOptions, 'onExchange' | 'onHead'> {
  return {
    onExchange(outcome, durationSeconds, methods) {
      stats.recordExchange(outcome, durationSeconds, methods.length);
      for (const dailyBudget of dailyBudgets) dailyBudget?.count(methods);
    },
    onHead(block) {
      const head = parseHead(block);
      if (head !== null) stats.recordHead(head);
    },
  };
}

function statusOf({ opened, halfOpen }: { opened: boolean; halfOpen: boolean }, cooldownMs: number): CircuitStatus {
  if (opened) return 'open';
  if (cooldownMs > 0) return 'cooling_down';
  return halfOpen ? 'half_open' : 'closed';
}

function budgetStatus(budget: DailyBudget): NonNullable<EndpointStatus['budget']> {
  const { requestsPerDay, unitsPerDay } = budget.plan;
  const { requests, units } = budget.used();
  return {
    day_ends_at: rfc3339(new Date(budget.dayEndsAt())),
    requests: requestsPerDay === null ? null : { used: requests, limit: requestsPerDay },
    units: unitsPerDay === null ? null : { used: units, limit: unitsPerDay },
    slowed: budget.waitMs('payments') > 0,
  };
}

/** Lets reads through while the node answers. The very first read checks that it serves the right chain. */
function createCircuit(
  rpc: RpcProvider,
  chainId: number,
  {
    label,
    cooldown,
    stats,
    logger,
  }: {
    label: Record<string, string>;
    cooldown: ReturnType<typeof createCooldown>;
    stats: ReturnType<typeof createEndpointStats>;
    logger: Logger;
  },
) {
  const ensureChain = chainCheck(rpc, chainId);
  let unanswered = 0;
  const breaker = new CircuitBreaker<[Read<unknown>]>(
    async (read) => {
      try {
        await ensureChain();
        return await read(rpc);
      } catch (error) {
        if (error instanceof RpcError) noteFailure(error);
        throw error;
      }
    },
    { ...BREAKER, errorFilter: (error: unknown) => !breaks(error) },
  );
  breaker.on('open', () => logger.warn({ ...label, error: stats.facts().last_error }, 'endpoint circuit opened'));
  breaker.on('close', () => logger.warn({ ...label, error: stats.facts().last_error }, 'endpoint circuit closed'));

  /** Runs before the breaker evaluates the error. */
  function noteFailure(error: RpcError): void {
    stats.recordFailure(error);
    unanswered = error.kind === 'timeout' ? unanswered + 1 : 0;
    if (unanswered >= UNANSWERED) breaker.open();
    if (!cooldown.startAfter(error)) return;
    logger.info({ ...label, error: error.message, cooldown_ms: cooldown.leftMs() }, 'endpoint cools down');
  }

  async function fire<T>(read: Read<T>): Promise<T> {
    try {
      const answer = await breaker.fire(read);
      cooldown.reset();
      unanswered = 0;
      return answer as T;
    } catch (error) {
      if (!CircuitBreaker.isOurError(error as Error)) throw error;
      throw new EndpointSkipped('unreachable', 'the circuit of the endpoint is open');
    }
  }

  /** Bypasses the circuit: the outcome does not count for or against the endpoint, except that it cools down if it asks us to wait. */
  async function pass<T>(read: () => Promise<T>): Promise<T> {
    try {
      await ensureChain();
      return await read();
    } catch (error) {
      if (error instanceof RpcError) cooldown.startAfter(error);
      throw error;
    }
  }

  return { breaker, fire, pass };
}

function breaks(error: unknown): boolean {
  return error instanceof RpcError && !HARMLESS.includes(error.kind) && error.retryAfterMs === null;
}

/** The endpoint reported a head, but could not show the blocks up to it. */
function isBrokenPromise(error: unknown): boolean {
  return error instanceof RpcError && (error.kind === 'invalid_answer' || error.kind === 'unknown_block');
}

/** Checks the chain once: a URL under the wrong network would be scanned without an error, and never show a payment. */
function chainCheck(rpc: RpcProvider, expected: number): () => Promise<void> {
  let isChecked = false;
  return async () => {
    if (isChecked) return;
    const chainId = await readChainId(rpc);
    if (chainId !== expected)
      throw new RpcError('wrong_chain', `chain id ${String(chainId)} instead of ${String(expected)}`);
    isChecked = true;
  };
}

/** @returns null if it is not a block. The read that asked for it reports that. */
function parseHead(block: unknown): Head | null {
  try {
    const { number, timestamp } = (block ?? {}) as Record<string, unknown>;
    return { number: quantity(number, 'head.number'), timestamp: quantity(timestamp, 'head.timestamp') };
  } catch {
    return null;
  }
}
