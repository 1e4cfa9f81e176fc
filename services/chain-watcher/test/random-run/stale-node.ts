import type { ChainHistory, Log, View } from './chain-history.ts';

export type Call = { id: number; method: string; params: unknown[] };
export type Answer = { id?: number; result?: unknown; error?: { code: number; message: string } };

type Filter = {
  blockHash?: string;
  fromBlock?: string;
  toBlock?: string;
  address?: string;
  topics?: (string | string[] | null)[];
};

/**
 * Answers as a node that has this view of the chain and no newer one: its head, its forks, its final block.
 * @returns null for what it leaves to the real node.
 */
export function answerFrom(
  chronicle: ChainHistory,
  view: View,
  finalDepth: number,
  { method, params }: Call,
): Answer | null {
  const head = view.length - 1;
  const blockAt = (height: number) => chronicle.find(view[height] ?? '')?.block ?? null;
  const isInView = (hash: string) => {
    const block = chronicle.find(hash)?.block;
    return block !== undefined && view[Number(block.number)] === hash;
  };
  switch (method) {
    case 'eth_blockNumber':
      return { result: hexOf(head) };
    case 'eth_getBlockByNumber': {
      const [tag] = params as [string];
      if (tag === 'latest') return { result: blockAt(head) };
      if (tag === 'finalized' || tag === 'safe') return { result: blockAt(Math.max(0, head - finalDepth)) };
      return tag.startsWith('0x') ? { result: blockAt(Number(tag)) } : null;
    }
    case 'eth_getBlockByHash': {
      const [hash] = params as [string];
      return { result: isInView(hash) ? chronicle.find(hash)!.block : null };
    }
    case 'eth_getTransactionReceipt':
      return { result: receiptIn(chronicle, view, params[0] as string) };
    case 'eth_getLogs': {
      const [filter] = params as [Filter];
      if (filter.blockHash !== undefined && !isInView(filter.blockHash))
        return { error: { code: -32000, message: 'unknown block' } };
      const hashes = filter.blockHash === undefined ? view.slice(...rangeOf(filter, head)) : [filter.blockHash];
      return { result: hashes.flatMap((hash) => logsOf(chronicle, hash)).filter((log) => matches(filter, log)) };
    }
    default:
      return null;
  }
}

export const hexOf = (number: number): string => `0x${number.toString(16)}`;

function rangeOf({ fromBlock, toBlock }: Filter, head: number): [number, number] {
  const height = (tag: string | undefined) => (tag?.startsWith('0x') ? Number(tag) : head);
  return [height(fromBlock), height(toBlock) + 1];
}

const logsOf = (chronicle: ChainHistory, hash: string): Log[] =>
  chronicle.find(hash)?.receipts.flatMap(({ logs }) => logs) ?? [];

function receiptIn(chronicle: ChainHistory, view: View, transaction: string): unknown {
  // Newest first: only recent blocks differ between views, and most questions are about those.
  for (const hash of view.toReversed()) {
    const found = chronicle.find(hash)?.receipts.find(({ transactionHash }) => transactionHash === transaction);
    if (found !== undefined) return found;
  }
  return null;
}

function matches({ address, topics = [] }: Filter, log: Log): boolean {
  if (address !== undefined && log.address.toLowerCase() !== address.toLowerCase()) return false;
  return topics.every((wanted, position) => {
    const topic = log.topics[position];
    return wanted === null || (topic !== undefined && [wanted].flat().includes(topic));
  });
}
