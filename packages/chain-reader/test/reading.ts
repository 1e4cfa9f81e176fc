import { createMetrics } from '@quittance/runtime/metrics.ts';
import { testChain, type TestChain } from '@quittance/testkit/chain.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { createLocalChain, type LocalChain } from '../src/chain/local-chain.ts';
import { poll, type PollResult, type PollContext } from '../src/chain/poll.ts';
import { readNetworks, type ChainNetwork } from '../src/chain/networks.ts';
import type { Block } from '../src/rpc/answers.ts';
import { createEndpoints } from '../src/rpc/endpoints.ts';
import type { RpcProvider } from '../src/rpc/provider.ts';
import { readBlockAt } from '../src/rpc/reads.ts';
import { createWatchSet } from '../src/chain/watch-set.ts';
import {
  misbehavingNode,
  type Answer,
  type Call,
  type MisbehavingNode,
} from '@quittance/testkit/chain/misbehaving-node.ts';
import { networksOf } from '@quittance/testkit/chain/samples.ts';

/** A chain, and a node in front of it whose answers a test may change, read only by the functions under test. */
export type Reading = {
  chain: TestChain;
  node: MisbehavingNode;
  network: ChainNetwork;
  /** Runs a read on the node, as the scan would, each time without any memory of earlier failures. */
  read<T>(what: (rpc: RpcProvider) => Promise<T>): Promise<T>;
  /** As read(), and also returns the HTTP requests and the calls in them. */
  readWithCost<T>(what: (rpc: RpcProvider) => Promise<T>): Promise<{ answer: T; requests: number; calls: Call[] }>;
  /** The end of our chain as if we had scanned up to this height. */
  scannedTo(height: number, depth?: number): Promise<LocalChain>;
  pollContext(chain: LocalChain, wallets?: string[], changes?: Partial<PollContext>): PollContext;
  head(): Promise<Block>;
  close(): Promise<void>;
};

export async function startReading(
  chainOptions: Parameters<typeof testChain>[0] = {},
  family: 'evm' | 'tron' = 'evm',
): Promise<Reading> {
  const chain = await testChain({ slotsInAnEpoch: 32, ...chainOptions });
  const node = await misbehavingNode(chain);
  const [evm] = readNetworks(networksOf({ chain, rpcUrls: [node.url] }), {});
  if (evm === undefined) throw new Error('the network is switched off');
  const network = family === 'evm' ? evm : { ...evm, family, mayHoldTransfer: null, hasEventsInBloom: false };

  async function readWithCost<T>(what: (rpc: RpcProvider) => Promise<T>) {
    const metrics = createMetrics({ service: 'chain-watcher', processMetrics: false });
    const endpoints = createEndpoints({ network, timeoutMs: 30_000, logger: testLogger, metrics });
    try {
      return await endpoints.ask(async (rpc) => {
        const [requests, calls] = [node.requests(), node.calls().length];
        const answer = await what(rpc);
        return { answer, requests: node.requests() - requests, calls: node.calls().slice(calls) };
      });
    } finally {
      endpoints.close();
    }
  }

  const read = async <T>(what: (rpc: RpcProvider) => Promise<T>) => (await readWithCost(what)).answer;
  const blockAt = async (height: number) => (await read((rpc) => readBlockAt(rpc, height)))!;
  return {
    chain,
    node,
    network,
    readWithCost,
    read,
    async scannedTo(height, depth = 10) {
      const heights = Array.from({ length: Math.min(depth, height + 1) }, (_, back) => height - back).reverse();
      return createLocalChain(await Promise.all(heights.map(blockAt)));
    },
    pollContext: (local, wallets = [], changes = {}) => {
      const watches = createWatchSet();
      wallets.forEach((wallet) => watches.add(wallet.toLowerCase()));
      return {
        network,
        chain: local,
        watches,
        finalized: 0,
        hasNamedFinal: false,
        maxBlocks: 32,
        asksFinality: true,
        asksFinalityAtTip: false,
        expected: null,
        ...changes,
      };
    },
    head: async () => blockAt(Number(await chain.rpc<string>('eth_blockNumber'))),
    async close() {
      await node.close();
      await chain.close();
    },
  };
}

/** Changes the answers to eth_getLogs. */
export const onLogs =
  (change: (logs: RawLog[], filter: RawFilter) => unknown) =>
  (call: Call, answer: Answer): Partial<Answer> | undefined =>
    call.method === 'eth_getLogs' && Array.isArray(answer.result)
      ? { result: change(answer.result as RawLog[], call.params[0] as RawFilter) }
      : undefined;

/** Changes every block in an answer. */
export const onBlocks =
  (change: (block: Record<string, unknown>) => Record<string, unknown>) =>
  (call: Call, answer: Answer): Partial<Answer> | undefined =>
    /^eth_getBlockBy/.test(call.method) && answer.result
      ? { result: { ...answer.result, ...change(answer.result as Record<string, unknown>) } }
      : undefined;

export type RawLog = Record<string, unknown> & { blockNumber: string; blockHash: string };
export type RawFilter = {
  address?: string;
  topics?: unknown[];
  fromBlock?: string;
  toBlock?: string;
  blockHash?: string;
};

/** Mines one block with a separate transaction to each of these wallets. */
export async function payAllInOneBlock(chain: TestChain, wallets: readonly string[], units: bigint): Promise<void> {
  await chain.rpc('evm_setAutomine', [false]);
  const payments = wallets.map((wallet) => chain.transfer(wallet, units));
  await untilPending(chain, wallets.length);
  await chain.mine(1);
  await Promise.all(payments);
  await chain.rpc('evm_setAutomine', [true]);
}

async function untilPending(chain: TestChain, count: number): Promise<void> {
  await eventually(async () => {
    const { pending } = await chain.rpc<{ pending: string }>('txpool_status');
    if (Number(pending) < count) throw new Error(`${Number(pending)} of ${count} transactions have reached the pool`);
  });
}

export const transfersOf = (seen: PollResult) => (seen.kind === 'blocks' ? seen.transfers : []);
export { poll };
