import { placeOfTransaction, type SyntheticLog } from './synthetic-chain.ts';

/** Text, or bytes that are ready to send. */
type Piece = string | Buffer;
export type Filter = { address?: string | undefined; topics: (string | string[] | null)[] };

/** A node's view of a synthetic chain. Each answer is null for a block that is not shown. */
export type SyntheticNode = {
  chainId: number;
  /** Height of the newest block. */
  head(): number;
  /** The same, for a caller who asks for the newest block. */
  latest(): number;
  finalized(): number;
  /** The height of the block with this hash; NaN for a hash that is not of this chain. */
  numberOf(hash: string): number;
  header(number: number): Piece | null;
  /** The events that pass the filter, as JSON separated by commas. */
  logs(number: number, filter: Filter): Piece | null;
  receipts(number: number): string[] | null;
  /** Tron's nodes do not offer `eth_getBlockReceipts`. */
  hasBlockReceipts: boolean;
};

export type Call = { id: number; method: string; params: unknown[] };

/** The body that answers one call or a batch. */
export function bodyOf(node: SyntheticNode, calls: Call | Call[]): Buffer {
  const pieces = Array.isArray(calls)
    ? ['[', ...calls.flatMap((call, position) => [...(position === 0 ? [] : [',']), ...envelope(node, call)]), ']']
    : envelope(node, calls);
  return Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)));
}

function envelope(node: SyntheticNode, { id, method, params }: Call): Piece[] {
  const result = answer(node, method, params[0]);
  if (result !== undefined) return [`{"jsonrpc":"2.0","id":${id},"result":`, ...result, '}'];
  const message = `the method ${method} does not exist/is not available`;
  return [JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message } })];
}

/** @returns undefined for a method that is not offered. */
function answer(node: SyntheticNode, method: string, first: unknown): Piece[] | undefined {
  switch (method) {
    case 'eth_chainId':
      return [JSON.stringify(`0x${node.chainId.toString(16)}`)];
    case 'eth_blockNumber':
      return [JSON.stringify(`0x${node.head().toString(16)}`)];
    case 'eth_getBlockByNumber':
      return [node.header(heightOf(node, String(first))) ?? 'null'];
    case 'eth_getBlockByHash':
      return [node.header(node.numberOf(String(first))) ?? 'null'];
    case 'eth_getLogs':
      return logs(node, first as LogsParameter);
    case 'eth_getTransactionReceipt': {
      const { number, position } = placeOfTransaction(String(first));
      return [node.receipts(number)?.[position] ?? 'null'];
    }
    case 'eth_getBlockReceipts': {
      if (!node.hasBlockReceipts) return undefined;
      const text = String(first);
      const receipts = node.receipts(text.length === 66 ? node.numberOf(text) : heightOf(node, text));
      return receipts === null ? ['null'] : ['[', receipts.join(','), ']'];
    }
    default:
      return undefined;
  }
}

function heightOf(node: SyntheticNode, tag: string): number {
  if (tag === 'latest') return node.latest();
  return tag === 'finalized' ? node.finalized() : Number(tag);
}

type LogsParameter = Partial<Filter> & { fromBlock?: string; toBlock?: string; blockHash?: string };

function logs(node: SyntheticNode, { fromBlock, toBlock, blockHash, address, topics = [] }: LogsParameter): Piece[] {
  const isByHash = blockHash !== undefined;
  const from = isByHash ? node.numberOf(blockHash) : heightOf(node, fromBlock ?? 'latest');
  const to = Math.min(node.head(), isByHash ? from : heightOf(node, toBlock ?? 'latest'));
  const pieces: Piece[] = [];
  for (let number = from; number <= to; number += 1) {
    const found = node.logs(number, { address: address?.toLowerCase(), topics });
    if (found !== null && found.length > 0) pieces.push(pieces.length === 0 ? '' : ',', found);
  }
  return ['[', ...pieces, ']'];
}

export const filtered = (all: readonly SyntheticLog[], { address, topics }: Filter): string =>
  all
    .filter(
      (log) =>
        (address === undefined || log.address === address) &&
        topics.every((wanted, position) => wanted === null || [wanted].flat().includes(log.topics[position] ?? '')),
    )
    .map(({ json }) => json)
    .join(',');
