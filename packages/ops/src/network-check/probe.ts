import { setTimeout as sleep } from 'node:timers/promises';
import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import { RpcError, type RpcErrorKind } from '@quittance/chain-reader/rpc/errors.ts';
import type { RpcNode } from '@quittance/chain-reader/rpc/network.ts';
import { RpcProvider } from '@quittance/chain-reader/rpc/provider.ts';
import { createBudget } from '@quittance/chain-reader/rpc/throttle.ts';

/** As the watcher's, which reads answers of any size that a range may have. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;
const MAX_BUDGET_WAIT_MS = 60_000;
const MAX_RETRIES = 3;
const RETRY_AFTER_MS = 1_000;
const MAX_RETRY_AFTER_MS = 10_000;

/** One HTTP request that was answered, or failed. `methods`: of the calls in it. */
export type Exchange = { outcome: 'ok' | RpcErrorKind; seconds: number; methods: readonly string[] };

/** An endpoint under examination. */
export type Probe = {
  rpc: RpcProvider;
  network: ChainNetwork;
  node: RpcNode;
  /** The most calls that the plan lets leave at once. */
  burst: number;
  /** Every HTTP request so far. */
  exchanges: readonly Exchange[];
  close(): void;
};

/** @param position of the endpoint in the networks file, from 0. */
export function openProbe(network: ChainNetwork, node: RpcNode, position: number, timeoutMs: number): Probe {
  const exchanges: Exchange[] = [];
  const budget = createBudget(node.requestsPerSecond, { maxWaitMs: MAX_BUDGET_WAIT_MS });
  const rpc = new RpcProvider({
    endpoint: position,
    url: node.url,
    headers: node.headers,
    chainId: network.chain_id,
    timeoutMs,
    maxResponseBytes: MAX_RESPONSE_BYTES,
    budget,
    onExchange: (outcome, seconds, methods) => exchanges.push({ outcome, seconds, methods }),
    onHead: () => undefined,
    // Whether blocks can be proven is a question of its own. If they cannot be, the others are answered all the same.
    isProven: false,
    onFalse: () => undefined,
  });
  return {
    rpc,
    network,
    node,
    burst: budget.burst,
    exchanges,
    close() {
      budget.close();
      rpc.destroy();
    },
  };
}

/** Reads, and where the endpoint asks for patience reads again: a plan's limit by the second says nothing about the question. */
export async function patiently<T>(read: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof RpcError) || error.kind !== 'rate_limit' || attempt > MAX_RETRIES) throw error;
      await sleep(Math.min(error.retryAfterMs ?? RETRY_AFTER_MS * attempt, MAX_RETRY_AFTER_MS));
    }
  }
}

/** The outcome of a question that an endpoint may refuse. @throws what is no refusal, such as a lost connection. */
export async function unlessRefused<T>(read: () => Promise<T>): Promise<{ answer: T } | { refusal: RpcError }> {
  try {
    return { answer: await patiently(read) };
  } catch (error) {
    if (!(error instanceof RpcError) || LOST.includes(error.kind)) throw error;
    return { refusal: error };
  }
}

/** These say something about the line, and nothing about the question. */
const LOST: readonly RpcErrorKind[] = ['unreachable', 'rate_limit', 'no_budget'];
