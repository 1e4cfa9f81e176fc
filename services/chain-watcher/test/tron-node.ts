import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ask, readText, reply, type Answer, type Call } from '@quittance/testkit/chain/misbehaving-node.ts';

/** What a Tron network's own full node answers, over the blocks of a local Ethereum chain. */
export type TronNode = {
  url: string;
  /** HTTP requests so far. */
  requests(): number;
  /** Every method asked for so far, in order. */
  methods: readonly string[];
  /** The index over events begins at this height: of older blocks, a search by address or topic finds nothing and says nothing. */
  indexesFrom(height: number): void;
  /** Takes these transactions for failed: their receipts say so and still hold the events, and so do searches. */
  fail(...hashes: string[]): void;
  /** Whether it names a final block. */
  namesFinal(names: boolean): void;
  /** Refuses every search with more results than this. */
  limitResults(results: number): void;
  /** Refuses every n-th request for want of resources; 0 for none. */
  refuseEvery(n: number): void;
  close(): Promise<void>;
};

/** How far the last block that cannot change any more lies behind the head. */
export const SOLIDIFIED_BEHIND = 19;

const MAX_BATCH = 100;
const MAX_RANGE = 5_000;
const MAX_RESULTS = 10_000;
const MAX_TOPICS = 1_000;

type Filter = {
  blockHash?: string;
  fromBlock?: string;
  toBlock?: string;
  address?: string | string[];
  topics?: (string | string[] | null)[];
};
type RawLog = { blockNumber: string };
type RawReceipt = { transactionHash: string };
type RawBlock = { number: string };

/** An error as java-tron words it: always with an empty object as text in `data`. */
class Refusal extends Error {
  readonly error: { code: number; message: string; data: string };

  constructor(code: number, message: string) {
    super(message);
    this.error = { code, message, data: '{}' };
  }
}

/** What may be wrong with the node. */
type State = {
  hasFinalized: boolean;
  failed: Set<string>;
  indexedFrom: number;
  refusedEvery: number;
  maxResults: number;
};

/**
 * A proxy in front of a local chain that speaks as java-tron does: its limits, its error texts, its empty headers and its ways to
 * be silently incomplete. Source: java-tron's services/jsonrpc and its documentation of errors.
 * @param hasFinalized false for nodes from before the `finalized` tag, which take the word for a malformed number.
 */
export async function tronNode(options: { rpcUrl: string; hasFinalized?: boolean }): Promise<TronNode> {
  const { rpcUrl, hasFinalized = true } = options;
  const state: State = { hasFinalized, failed: new Set(), indexedFrom: 0, refusedEvery: 0, maxResults: MAX_RESULTS };
  const answers = answersOf(rpcUrl, state);
  const methods: string[] = [];
  let requests = 0;

  async function answer({ id, method, params }: Call): Promise<Answer> {
    methods.push(method);
    try {
      const handle = answers[method];
      if (handle === undefined) throw new Refusal(-32601, 'method not found');
      return { id, result: await handle(...params) };
    } catch (error) {
      if (error instanceof Refusal) return { id, error: error.error };
      throw error;
    }
  }

  async function respond(request: IncomingMessage): Promise<unknown> {
    const calls = JSON.parse(await readText(request)) as Call | Call[];
    requests += 1;
    if (state.refusedEvery > 0 && requests % state.refusedEvery === 0)
      return { Error: 'class java.lang.IllegalAccessException : lack of computing resources' };
    if (!Array.isArray(calls)) return { jsonrpc: '2.0', ...(await answer(calls)) };
    if (calls.length > MAX_BATCH) {
      const message = `Batch size ${calls.length} exceeds the limit of ${MAX_BATCH}`;
      return { jsonrpc: '2.0', error: { code: -32005, message }, id: null };
    }
    return Promise.all(calls.map(async (call) => ({ jsonrpc: '2.0', ...(await answer(call)) })));
  }

  // Whatever goes wrong, the status is 200.
  const server = createServer((request, response) => {
    respond(request).then(
      (body) => reply(response, { status: 200, body: JSON.stringify(body) }),
      () => request.socket.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jsonrpc`,
    requests: () => requests,
    methods,
    indexesFrom: (height) => {
      state.indexedFrom = height;
    },
    fail: (...hashes) => hashes.forEach((hash) => state.failed.add(hash)),
    namesFinal: (names) => {
      state.hasFinalized = names;
    },
    limitResults: (results) => {
      state.maxResults = results;
    },
    refuseEvery: (n) => {
      state.refusedEvery = n;
    },
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function answersOf(rpcUrl: string, state: State): Record<string, (...params: unknown[]) => Promise<unknown>> {
  async function real<T>(method: string, ...params: unknown[]): Promise<T> {
    const { result, error } = await ask(rpcUrl, { id: 0, method, params });
    if (error) throw new Refusal(-32000, error.message);
    return result as T;
  }
  const head = async () => Number(await real<string>('eth_blockNumber'));

  async function heightOf(block: unknown): Promise<number> {
    if (block === 'latest') return head();
    if (block === 'earliest') return 0;
    if (block === 'finalized' && state.hasFinalized) return Math.max(0, (await head()) - SOLIDIFIED_BEHIND);
    if (block === 'safe' || block === 'pending') throw new Refusal(-32602, `TAG ${block} not supported`);
    if (typeof block !== 'string' || !/^0x[0-9a-f]+$/.test(block)) throw new Refusal(-32602, 'invalid block number');
    return Number(block);
  }

  async function logs(filter: Filter): Promise<RawLog[]> {
    if (filter.topics?.some((slot) => Array.isArray(slot) && slot.length > MAX_TOPICS))
      throw new Refusal(-32602, `exceed max topics: ${MAX_TOPICS}`);
    if (filter.blockHash === undefined) return logsOfRange(filter);
    if (filter.fromBlock !== undefined || filter.toBlock !== undefined)
      throw new Refusal(-32602, 'cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other');
    const block = await real<RawBlock | null>('eth_getBlockByHash', filter.blockHash, false);
    if (block === null) throw new Refusal(-32602, 'invalid blockHash');
    return foundBy(state, filter, await real('eth_getLogs', filter));
  }

  async function logsOfRange(filter: Filter): Promise<RawLog[]> {
    const [from, to] = [await heightOf(filter.fromBlock ?? 'latest'), await heightOf(filter.toBlock ?? 'latest')];
    if (from > to) throw new Refusal(-32602, 'please verify: fromBlock <= toBlock');
    const last = Math.min(to, await head());
    if (last - from > MAX_RANGE) throw new Refusal(-32602, `exceed max block range: ${MAX_RANGE}`);
    // Blocks that do not exist yet hold nothing, and that is no error.
    if (from > last) return [];
    const range = { fromBlock: `0x${from.toString(16)}`, toBlock: `0x${last.toString(16)}` };
    return foundBy(state, filter, await real('eth_getLogs', { ...filter, ...range }));
  }

  return {
    eth_chainId: () => real('eth_chainId'),
    eth_blockNumber: () => real('eth_blockNumber'),
    eth_getBlockByNumber: async (block, full) =>
      blockOf(await real('eth_getBlockByNumber', `0x${(await heightOf(block)).toString(16)}`, full)),
    eth_getBlockByHash: async (hash, full) => blockOf(await real('eth_getBlockByHash', hash, full)),
    eth_getLogs: (filter) => logs(filter as Filter),
    eth_getTransactionReceipt: async (hash) => receiptOf(state, await real('eth_getTransactionReceipt', hash)),
    eth_getBlockReceipts: async (block) => {
      const isHash = typeof block === 'string' && block.length === 66;
      const asked = isHash ? block : `0x${(await heightOf(block)).toString(16)}`;
      const receipts = await real<RawReceipt[] | null>('eth_getBlockReceipts', asked);
      return receipts?.map((receipt) => receiptOf(state, receipt)) ?? null;
    },
  };
}

/** Only a search goes through the index; without address and topics every block is read. */
function foundBy({ indexedFrom, maxResults }: State, { address = [], topics = [] }: Filter, all: RawLog[]): RawLog[] {
  const isSearch = [address, topics].flat(2).some((part) => part !== null);
  const found = isSearch ? all.filter((log) => Number(log.blockNumber) >= indexedFrom) : all;
  if (found.length > maxResults) throw new Refusal(-32005, `query returned more than ${maxResults} results`);
  return found;
}

const emptyBloom = `0x${'0'.repeat(512)}`;

/** Tron has neither a filter over events nor a state root to show. */
function blockOf(block: RawBlock | null): unknown {
  if (block === null) return null;
  const none = { stateRoot: '0x', extraData: '0x', difficulty: '0x0', totalDifficulty: '0x0', uncles: [] };
  return { ...block, ...none, logsBloom: emptyBloom, receiptsRoot: `0x${'0'.repeat(64)}` };
}

function receiptOf({ failed }: State, receipt: RawReceipt | null): unknown {
  if (receipt === null) return null;
  const status = failed.has(receipt.transactionHash) && { status: '0x0' };
  return { ...receipt, logsBloom: emptyBloom, type: '0x0', ...status };
}
