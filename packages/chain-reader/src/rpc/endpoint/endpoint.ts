import CircuitBreaker from 'opossum';
import type { Logger } from '@quittance/runtime/logger.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import type { RpcNetwork, RpcNode } from '../network.ts';
import { quantity } from '../answers.ts';
import { createBudget, type Budget } from './budget.ts';
import { createCredit, lagBlocks, lags, type Head } from './heads.ts';
import type { EndpointMetrics } from './metrics.ts';
import { createRecord, type EndpointFacts, type EndpointRecord } from './record.ts';
import { createRest, type Rest } from './rest.ts';
import { RpcError, type RpcErrorKind } from '../errors.ts';
import { RpcProvider } from '../provider.ts';
import { readChainId, readHead } from '../reads.ts';

export type Read<T> = (rpc: RpcProvider) => Promise<T>;

export type EndpointState = EndpointFacts & {
  /** Position in the networks file, from 0. The URL itself is never shown: it may hold a key. */
  endpoint: number;
  /** `closed` is the healthy one, in the language of circuit breakers; `resting` was refused for asking too often. */
  state: Standing | 'lagging';
  /** How far its head is behind the best one that is credible; 0 while nothing is known. */
  head_lag_blocks: number;
  resting_until: string | null;
};

/** What an endpoint's own breaker and rest say. Whether it lags is a matter of the others. */
type Standing = 'closed' | 'open' | 'half_open' | 'resting';

/** One node of a network, and what is known of how it does. */
export type Endpoint = {
  /** In the networks file, from 0. */
  readonly position: number;
  /** @throws RpcError; NotAsked when the breaker lets nobody through; and any other error of `read` as it is. */
  run<T>(read: Read<T>): Promise<T>;
  /** Asks for its head, unless it rests or has no budget to spare. Never throws: what went wrong is in the state. */
  probe(): Promise<void>;
  standing(): Standing;
  /** Milliseconds until it may be asked again after a refusal. */
  restMs(): number;
  /** Milliseconds until its budget allows a call. */
  budgetMs(): number;
  head(): Head | null;
  /** Whether its head may make others look late. */
  isCredible(): boolean;
  /** Milliseconds since it last named its head; infinite before that. */
  silentMs(): number;
  state(best: Head | null): EndpointState;
  close(): void;
};

/** The endpoint is being left alone and was not asked. */
export class NotAsked extends RpcError {}

export type EndpointOptions = {
  network: Pick<RpcNetwork, 'id' | 'chain_id'>;
  position: number;
  node: Pick<RpcNode, 'url' | 'headers' | 'requestsPerSecond'>;
  timeoutMs: number;
  logger: Logger;
  metrics: EndpointMetrics;
};

const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;
/** Longest that a read waits for an endpoint's budget. */
const MAX_BUDGET_WAIT_MS = 5_000;
/** A head that was named longer ago than this says nothing about the others. */
const MAX_HEAD_AGE_MS = 60_000;
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

/** No sign of a broken endpoint: ours to repair, a matter of patience, or a block that only others have. */
const HARMLESS: readonly RpcErrorKind[] = ['range', 'rate_limit', 'no_budget', 'unknown_block'];

export function createEndpoint(options: EndpointOptions): Endpoint {
  const { position, logger } = options;
  const label = { network: options.network.id, endpoint: String(position) };
  const budget = createBudget(options.node.requestsPerSecond, { maxWaitMs: MAX_BUDGET_WAIT_MS });
  const [rest, credit, record] = [createRest(), createCredit(), createRecord(label, options.metrics)];
  const rpc = createProvider(options, budget, record);
  const breaker = createBreaker(rpc, options.network.chain_id, (error) => {
    record.failed(error);
    if (rest.after(error)) logger.info({ ...label, error: error.message, rest_ms: rest.leftMs() }, 'endpoint rests');
  });
  tellOf(breaker, (message) => logger.warn({ ...label, error: record.facts().last_error }, message));

  async function fire<T>(read: Read<T>): Promise<T> {
    try {
      const answer = await breaker.fire(read);
      rest.answered();
      return answer as T;
    } catch (error) {
      if (!CircuitBreaker.isOurError(error as Error)) throw error;
      throw new NotAsked('unreachable', 'the endpoint has been set aside');
    }
  }

  const standing = () => standingOf(breaker, rest);

  return {
    position,
    standing,
    async run(read) {
      const before = record.timesNamed();
      const hasNamedHead = () => record.timesNamed() > before;
      try {
        const answer = await fire(read);
        if (hasNamedHead()) credit.gain();
        return answer;
      } catch (error) {
        if (hasNamedHead() && isBrokenPromise(error)) credit.lose();
        throw error;
      }
    },
    async probe() {
      if (rest.leftMs() > 0 || budget.waitMs(1) > 0) return;
      await fire(readHead).catch(() => undefined);
    },
    restMs: rest.leftMs,
    budgetMs: () => budget.waitMs(1),
    head: record.head,
    isCredible: () => credit.isGood() && !breaker.opened && record.silentMs() < MAX_HEAD_AGE_MS,
    silentMs: record.silentMs,
    state: (best) => ({
      endpoint: position,
      state: standing() === 'closed' && lags(record.head(), best) ? 'lagging' : standing(),
      ...record.facts(),
      head_lag_blocks: lagBlocks(record.head(), best),
      resting_until: rest.leftMs() > 0 ? rfc3339(new Date(Date.now() + rest.leftMs())) : null,
    }),
    close() {
      breaker.shutdown();
      budget.close();
      rpc.destroy();
    },
  };
}

function standingOf({ opened, halfOpen }: CircuitBreaker<[Read<unknown>]>, rest: Rest): Standing {
  if (opened) return 'open';
  if (rest.leftMs() > 0) return 'resting';
  return halfOpen ? 'half_open' : 'closed';
}

function createProvider(options: EndpointOptions, budget: Budget, record: EndpointRecord): RpcProvider {
  return new RpcProvider({
    ...{
      endpoint: options.position,
      url: options.node.url,
      headers: options.node.headers,
      chainId: options.network.chain_id,
    },
    ...{ timeoutMs: options.timeoutMs, maxResponseBytes: MAX_RESPONSE_BYTES, budget, observe: record.exchanged },
    heard(block) {
      const head = parseHead(block);
      if (head !== null) record.named(head);
    },
  });
}

/** @param failed told of every error before the breaker draws its conclusion from it. */
function createBreaker(
  rpc: RpcProvider,
  chainId: number,
  failed: (error: RpcError) => void,
): CircuitBreaker<[Read<unknown>]> {
  const ensureChain = chainCheck(rpc, chainId);
  return new CircuitBreaker<[Read<unknown>]>(
    async (read) => {
      try {
        await ensureChain();
        return await read(rpc);
      } catch (error) {
        if (error instanceof RpcError) failed(error);
        throw error;
      }
    },
    { ...BREAKER, errorFilter: (error: unknown) => !breaks(error) },
  );
}

function tellOf(breaker: CircuitBreaker<[Read<unknown>]>, tell: (message: string) => void): void {
  breaker.on('open', () => tell('endpoint set aside'));
  breaker.on('close', () => tell('endpoint back in use'));
}

function breaks(error: unknown): boolean {
  return error instanceof RpcError && !HARMLESS.includes(error.kind) && error.retryAfterMs === null;
}

/** The endpoint named a head and could not show what leads to it. */
function isBrokenPromise(error: unknown): boolean {
  return error instanceof RpcError && (error.kind === 'invalid_answer' || error.kind === 'unknown_block');
}

/** A URL pasted under the wrong network would be scanned without complaint and never show a payment, so it is asked once. */
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

/** Null for what is no block: whoever asked for it says so. */
function parseHead(block: unknown): Head | null {
  try {
    const { number, timestamp } = (block ?? {}) as Record<string, unknown>;
    return { number: quantity(number, 'head.number'), timestamp: quantity(timestamp, 'head.timestamp') };
  } catch {
    return null;
  }
}
