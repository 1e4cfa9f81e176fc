import CircuitBreaker from 'opossum';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import type { ChainNetwork } from '../networks.ts';
import { RpcError } from './errors.ts';
import { RpcProvider } from './provider.ts';
import { readChainId } from './reads.ts';

/** The nodes of one network, best first. */
export type Endpoints = {
  /**
   * Runs a coherent piece of reading on the first endpoint that can do it. What fails or contradicts itself there is done
   * again, from its beginning, on the next one, so that one piece never mixes the views of two nodes.
   * @param read may throw RpcError `invalid_answer` to reject what the endpoint said.
   * @throws RpcError of the last endpoint; of kind `range` at once, because any node would say the same; and any other error
   *   of `read` at once.
   */
  ask<T>(read: (rpc: RpcProvider) => Promise<T>): Promise<T>;
  /**
   * As ask(), but what one endpoint says need not be the last word, such as that it does not know something: the next ones are asked
   * as well, until what was answered so far is `enough`.
   * @returns every answer given, in the order of the endpoints; at least one.
   */
  askUntil<T>(read: (rpc: RpcProvider) => Promise<T>, enough: (answers: readonly T[]) => boolean): Promise<T[]>;
  /** As ask(), but never the endpoint at this position. @returns null when the network has no other one. */
  askAnother<T>(read: (rpc: RpcProvider) => Promise<T>, than: number): Promise<T | null>;
  states(): EndpointState[];
  close(): void;
};

type EndpointState = {
  /** Position in the networks file, from 0. The URL itself is never shown: it may hold a key. */
  endpoint: number;
  state: 'closed' | 'open' | 'half_open';
  last_error: string | null;
};

type Read = (rpc: RpcProvider) => Promise<unknown>;
type Endpoint = { index: number; breaker: CircuitBreaker<[Read]>; rpc: RpcProvider; lastError: string | null };

const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;
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

export function createEndpoints(options: {
  network: Pick<ChainNetwork, 'id' | 'chain_id' | 'endpoints'>;
  timeoutMs: number;
  logger: Logger;
  metrics: Metrics;
}): Endpoints {
  const { network, logger } = options;
  const duration = requestDuration(options.metrics);
  const endpoints = network.endpoints.map(({ url }, index): Endpoint => {
    const rpc = new RpcProvider({
      endpoint: index,
      url,
      chainId: network.chain_id,
      timeoutMs: options.timeoutMs,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      observe: (outcome, seconds) =>
        duration.observe({ network: network.id, endpoint: String(index), outcome }, seconds),
    });
    const ensureChain = chainCheck(rpc, network.chain_id);
    const breaker = new CircuitBreaker<[Read]>(
      async (read) => {
        await ensureChain();
        return read(rpc);
      },
      { ...BREAKER, errorFilter: (error: unknown) => !isEndpointFault(error) },
    );
    breaker.on('open', () =>
      logger.warn({ network: network.id, endpoint: index, error: endpoints[index]?.lastError }, 'endpoint set aside'),
    );
    breaker.on('close', () => logger.info({ network: network.id, endpoint: index }, 'endpoint back in use'));
    return { index, breaker, rpc, lastError: null };
  });

  return {
    ask: async <T>(read: (rpc: RpcProvider) => Promise<T>) => {
      const [answer] = await askInTurn(endpoints, read, () => true);
      return answer as T;
    },
    askUntil: <T>(read: (rpc: RpcProvider) => Promise<T>, enough: (answers: readonly T[]) => boolean) =>
      askInTurn(endpoints, read, (answers) => enough(answers as T[])) as Promise<T[]>,
    askAnother: async <T>(read: (rpc: RpcProvider) => Promise<T>, than: number) => {
      const others = endpoints.filter(({ index }) => index !== than);
      if (others.length === 0) return null;
      const [answer] = await askInTurn(others, read, () => true);
      return answer as T;
    },
    states: () => endpoints.map(describe),
    close() {
      for (const { breaker, rpc } of endpoints) {
        breaker.shutdown();
        rpc.destroy();
      }
    },
  };
}

/** @returns at least one answer. */
async function askInTurn(
  endpoints: readonly Endpoint[],
  read: Read,
  enough: (answers: readonly unknown[]) => boolean,
): Promise<unknown[]> {
  let failure = new RpcError('unreachable', 'every endpoint has been set aside');
  const answers: unknown[] = [];
  for (const endpoint of endpoints) {
    try {
      const answer = await endpoint.breaker.fire(read);
      endpoint.lastError = null;
      answers.push(answer);
      if (enough(answers)) break;
    } catch (error) {
      if (CircuitBreaker.isOurError(error as Error)) continue;
      if (!isEndpointFault(error)) throw error;
      endpoint.lastError = error.message;
      failure = error;
    }
  }
  if (answers.length === 0) throw failure;
  return answers;
}

/** A question that is too large is ours to repair, and so is an error that is none of the node's. */
function isEndpointFault(error: unknown): error is RpcError {
  return error instanceof RpcError && error.kind !== 'range';
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

function describe({ index, breaker, lastError }: Endpoint): EndpointState {
  const state = breaker.opened ? 'open' : breaker.halfOpen ? 'half_open' : 'closed';
  return { endpoint: index, state, last_error: lastError };
}

function requestDuration(metrics: Metrics) {
  return metrics.histogram(
    'chain_rpc_request_duration_seconds',
    'Duration of HTTP exchanges with nodes; endpoint is the position in the networks file.',
    ['network', 'endpoint', 'outcome'],
  );
}
