import { rpc } from '../rpc.ts';

/** How far the last block that can't change any more is behind the head. */
export const SOLIDIFIED_BEHIND = 19;

export const MAX_BATCH = 100;
export const MAX_RESULTS = 10_000;
const MAX_RANGE = 5_000;
const MAX_TOPICS = 1_000;

export type TronOptions = {
  /** The Ethereum chain behind it. */
  rpcUrl: string;
  /** The chain id that it reports. Default: the Ethereum chain's id. */
  chainId?: number;
  /** false for nodes, and providers, without eth_getBlockReceipts. Default true. */
  hasBlockReceipts?: boolean;
};

/** The faults that the node simulates. */
export type TronState = {
  hasFinalized: boolean;
  failed: Set<string>;
  indexedFrom: number;
  maxResults: number;
  /** Every n-th request is refused because of missing resources; 0 for none. */
  refusedEvery: number;
};

type Filter = {
  blockHash?: string;
  fromBlock?: string;
  toBlock?: string;
  address?: string | string[];
  topics?: (string | string[] | null)[];
};
type RawLog = { blockNumber: string };
type RawReceipt = { transactionHash: string };
/** Fields of an Ethereum block that Tron's blocks also have, with the same meaning. */
type RawBlock = Record<
  | 'number'
  | 'hash'
  | 'parentHash'
  | 'timestamp'
  | 'miner'
  | 'size'
  | 'gasLimit'
  | 'gasUsed'
  | 'transactions'
  | 'transactionsRoot',
  unknown
>;

/** An error as java-tron reports it: always with the text of an empty object in `data`. */
export class Refusal extends Error {
  readonly error: { code: number; message: string; data: string };

  constructor(code: number, message: string) {
    super(message);
    this.error = { code, message, data: '{}' };
  }
}

/** Answers by method. @throws Refusal, which is sent as an error; any other error is no answer. */
export function answersOf(
  { rpcUrl, chainId, hasBlockReceipts = true }: TronOptions,
  state: TronState,
): Record<string, (...params: unknown[]) => Promise<unknown>> {
  async function real<T>(method: string, ...params: unknown[]): Promise<T> {
    return rpc<T>(rpcUrl, method, params).catch((error: unknown) => {
      // A plain Error is the chain's own answer. Other classes mean that it can't be reached.
      throw error instanceof Error && error.constructor === Error ? new Refusal(-32000, error.message) : error;
    });
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

  async function logs(asked: Filter): Promise<RawLog[]> {
    const filter = withoutPrefix(asked);
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
    // Blocks that don't exist yet contain nothing, and this is not an error.
    if (from > last) return [];
    const range = { fromBlock: `0x${from.toString(16)}`, toBlock: `0x${last.toString(16)}` };
    return foundBy(state, filter, await real('eth_getLogs', { ...filter, ...range }));
  }

  async function receiptsOfBlock(block: unknown): Promise<unknown> {
    const isHash = typeof block === 'string' && block.length === 66;
    const asked = isHash ? block : `0x${(await heightOf(block)).toString(16)}`;
    const receipts = await real<RawReceipt[] | null>('eth_getBlockReceipts', asked);
    return receipts?.map((receipt) => receiptOf(state, receipt)) ?? null;
  }

  return {
    eth_chainId: async () => (chainId === undefined ? real('eth_chainId') : `0x${chainId.toString(16)}`),
    eth_blockNumber: () => real('eth_blockNumber'),
    eth_getBlockByNumber: async (block, full) =>
      blockOf(await real('eth_getBlockByNumber', `0x${(await heightOf(block)).toString(16)}`, full)),
    eth_getBlockByHash: async (hash, full) => blockOf(await real('eth_getBlockByHash', hash, full)),
    eth_getLogs: (filter) => logs(filter as Filter),
    eth_getTransactionReceipt: async (hash) => receiptOf(state, await real('eth_getTransactionReceipt', hash)),
    eth_call: async (call, block) => {
      if (block !== 'latest') throw new Refusal(-32602, 'QUANTITY not supported, just support TAG as latest');
      return real('eth_call', call, block);
    },
    ...(hasBlockReceipts && { eth_getBlockReceipts: receiptsOfBlock }),
  };
}

/** Accepts Tron's own 21-byte addresses, which begin with 0x41, as well as Ethereum's 20 bytes. */
function withoutPrefix(filter: Filter): Filter {
  const { address } = filter;
  if (address === undefined) return filter;
  const short = (text: string) => text.replace(/^(?:0x)?41([0-9a-fA-F]{40})$/, '0x$1');
  return { ...filter, address: Array.isArray(address) ? address.map(short) : short(address) };
}

/** Only a search uses the index. Without address and topics every block is read. */
function foundBy(
  { indexedFrom, maxResults }: TronState,
  { address = [], topics = [] }: Filter,
  all: RawLog[],
): RawLog[] {
  const isSearch = [address, topics].flat(2).some((part) => part !== null);
  const found = isSearch ? all.filter((log) => Number(log.blockNumber) >= indexedFrom) : all;
  if (found.length > maxResults) throw new Refusal(-32005, `query returned more than ${maxResults} results`);
  return found;
}

const zeros = (bytes: number) => `0x${'00'.repeat(bytes)}`;

/** Tron has neither a Bloom filter of events nor roots of state and receipts. */
function blockOf(block: RawBlock | null): unknown {
  if (block === null) return null;
  const { number, hash, parentHash, timestamp, miner, size, gasLimit, gasUsed, transactions, transactionsRoot } = block;
  return {
    baseFeePerGas: '0x0',
    difficulty: '0x0',
    extraData: '0x',
    gasLimit,
    gasUsed,
    hash,
    logsBloom: zeros(256),
    miner,
    mixHash: zeros(32),
    nonce: zeros(8),
    number,
    parentHash,
    receiptsRoot: zeros(32),
    sha3Uncles: zeros(32),
    size,
    stateRoot: '0x',
    timestamp,
    totalDifficulty: '0x0',
    transactions,
    transactionsRoot,
    uncles: [],
  };
}

function receiptOf({ failed }: TronState, receipt: RawReceipt | null): unknown {
  if (receipt === null) return null;
  const status = failed.has(receipt.transactionHash) && { status: '0x0' };
  return { ...receipt, logsBloom: zeros(256), type: '0x0', ...status };
}
