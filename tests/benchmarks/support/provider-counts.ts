/** Kinds of calls: eth_getBlockByNumber is three of them. */
export const callKinds = [
  'latest',
  'finalized',
  'block by number',
  'block by hash',
  'logs of a block',
  'logs of a range',
  'receipt',
  'receipts of a block',
  'chain id',
  'other',
] as const;

export type CallKind = (typeof callKinds)[number];

/** What one endpoint received and sent so far. */
export type EndpointCounts = {
  calls: Partial<Record<CallKind, number>>;
  /** HTTP requests; a batch is one. */
  requests: number;
  /** Bodies as transmitted, compressed or not; announcements included. */
  bytes: number;
  /** Blocks announced over WebSockets, and their bytes. */
  announced: number;
  announcedBytes: number;
};

export const noCounts = (): EndpointCounts => ({
  ...{ calls: {}, requests: 0, bytes: 0, announced: 0, announcedBytes: 0 },
});

export function kindOf({ method, params }: { method: string; params: unknown[] }): CallKind {
  const [first] = params;
  switch (method) {
    case 'eth_getBlockByNumber':
      return first === 'latest' || first === 'finalized' ? first : 'block by number';
    case 'eth_blockNumber':
      return 'latest';
    case 'eth_getBlockByHash':
      return 'block by hash';
    case 'eth_getLogs':
      return isOfBlock((first ?? {}) as Record<string, unknown>) ? 'logs of a block' : 'logs of a range';
    case 'eth_getTransactionReceipt':
      return 'receipt';
    case 'eth_getBlockReceipts':
      return 'receipts of a block';
    case 'eth_chainId':
      return 'chain id';
    default:
      return 'other';
  }
}

const isOfBlock = ({ blockHash, fromBlock, toBlock }: Record<string, unknown>): boolean =>
  blockHash !== undefined || fromBlock === toBlock;

/**
 * What a call costs. Sources, November 2026: alchemy.com/docs/reference/compute-unit-costs; docs.metamask.io, services, pricing, credit
 * costs. An announcement costs Alchemy's customers 0.04 compute units a byte, Infura's 50 credits.
 */
const prices: Record<CallKind, { alchemy: number; infura: number }> = {
  latest: { alchemy: 20, infura: 80 },
  finalized: { alchemy: 20, infura: 80 },
  'block by number': { alchemy: 20, infura: 80 },
  'block by hash': { alchemy: 20, infura: 80 },
  'logs of a block': { alchemy: 60, infura: 255 },
  'logs of a range': { alchemy: 60, infura: 255 },
  receipt: { alchemy: 20, infura: 80 },
  'receipts of a block': { alchemy: 20, infura: 1000 },
  'chain id': { alchemy: 0, infura: 5 },
  other: { alchemy: 20, infura: 80 },
};
const ANNOUNCED_BYTE_UNITS = 0.04;
const ANNOUNCED_BLOCK_CREDITS = 50;

export const totalCalls = ({ calls }: EndpointCounts): number =>
  Object.values(calls).reduce((sum, count) => sum + count, 0);

/** In the units of both price lists. */
export function costOf({ calls, announced, announcedBytes }: EndpointCounts): { alchemy: number; infura: number } {
  const cost = { alchemy: announcedBytes * ANNOUNCED_BYTE_UNITS, infura: announced * ANNOUNCED_BLOCK_CREDITS };
  for (const kind of callKinds) {
    cost.alchemy += (calls[kind] ?? 0) * prices[kind].alchemy;
    cost.infura += (calls[kind] ?? 0) * prices[kind].infura;
  }
  return cost;
}
