import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TRANSFER_TOPIC } from '@quittance/chain-reader/chain/transfers.ts';
import { parseAddress } from '@quittance/contracts/address.ts';
import { readText, type Answer, type Call } from '@quittance/testkit/chain/misbehaving-node.ts';

/** A chain of any length, whose blocks are made up when they are read, and its only node. */
export type FarChain = {
  url: string;
  head(): number;
  /** Adds this many blocks. */
  grow(blocks: number): void;
  /** Puts a single transfer into a block. @returns the transaction's id, without 0x. */
  pay(height: number, wallet: string, units: bigint): string;
  /** From this height on, the blocks differ from before and have no transfers. */
  forkAt(height: number): void;
  /** Drops everything below this height. */
  prune(height: number): void;
  /** In Unix seconds. */
  timeOf(height: number): number;
  calls(): readonly Call[];
  close(): Promise<void>;
};

const EMPTY_BLOOM = `0x${'0'.repeat(512)}`;
const FULL_BLOOM = `0x${'f'.repeat(512)}`;

/** How far the final block is behind the head. */
export const FINAL_BEHIND = 2;

/** @param options.genesis when block 0 was made, in Unix seconds. */
export async function farChain(options: {
  chain: { chainId: number; token: string };
  head: number;
  genesis: number;
  blockSeconds: number;
}): Promise<FarChain> {
  const { chain, genesis, blockSeconds } = options;
  const token = chain.token.toLowerCase();
  const transfers = new Map<number, { wallet: string; units: bigint }>();
  const asked: Call[] = [];
  let { head } = options;
  let forkedAt = Infinity;
  let keptFrom = 0;

  const word = (number: number | bigint, prefix = ''): string =>
    `0x${prefix}${number.toString(16).padStart(64 - prefix.length, '0')}`;
  const hex = (number: number): string => `0x${number.toString(16)}`;
  const timeOf = (height: number): number => genesis + Math.floor(height * blockSeconds);
  const hashOf = (height: number): string => word(height, height >= forkedAt ? 'fb' : 'ab');
  const transactionOf = (height: number): string => word(height, 'cd');

  function blockAt(height: number) {
    if (height < 0 || height > head || height < keptFrom) return null;
    const transactions = transfers.has(height) ? [transactionOf(height)] : [];
    return {
      ...{ number: hex(height), hash: hashOf(height), parentHash: hashOf(height - 1), timestamp: hex(timeOf(height)) },
      ...{ logsBloom: transactions.length > 0 ? FULL_BLOOM : EMPTY_BLOOM, transactions },
    };
  }

  function logsOf(height: number) {
    const transfer = transfers.get(height);
    if (transfer === undefined || height > head || height < keptFrom) return [];
    const to = `0x${'0'.repeat(24)}${parseAddress(transfer.wallet)!.hex.slice(2)}`;
    return [
      {
        ...{ address: token, topics: [TRANSFER_TOPIC, word(1), to], data: word(transfer.units), logIndex: '0x0' },
        ...{ blockHash: hashOf(height), blockNumber: hex(height), transactionHash: transactionOf(height) },
      },
    ];
  }

  function receiptOf(hash: string) {
    const height = [...transfers.keys()].find((candidate) => transactionOf(candidate) === hash);
    if (height === undefined || height > head || height < keptFrom) return null;
    const place = { transactionHash: hash, blockHash: hashOf(height), blockNumber: hex(height) };
    return { ...place, status: '0x1', logs: logsOf(height) };
  }

  const heightOf = (tag: string): number =>
    tag === 'latest' ? head : tag === 'finalized' ? head - FINAL_BEHIND : Number(tag);
  const heightOfHash = (hash: string): number => {
    const height = Number(`0x${hash.slice(4)}`);
    return hashOf(height) === hash ? height : -1;
  };

  type Filter = { blockHash?: string; fromBlock?: string; toBlock?: string; topics?: (string | string[] | null)[] };

  function search({ blockHash, fromBlock, toBlock, topics = [] }: Filter) {
    const from = blockHash === undefined ? heightOf(fromBlock!) : heightOfHash(blockHash);
    const to = blockHash === undefined ? heightOf(toBlock!) : from;
    const heights = [...transfers.keys()].filter((height) => height >= from && height <= to).sort((a, b) => a - b);
    return heights
      .flatMap(logsOf)
      .filter((log) => topics.every((wanted, at) => wanted === null || [wanted].flat().includes(log.topics[at] ?? '')));
  }

  const methods: Record<string, (params: unknown[]) => unknown> = {
    eth_chainId: () => hex(chain.chainId),
    eth_getBlockByNumber: ([tag]) => blockAt(heightOf(tag as string)),
    eth_getBlockByHash: ([hash]) => blockAt(heightOfHash(hash as string)),
    eth_getLogs: ([filter]) => search(filter as Filter),
    eth_getTransactionReceipt: ([hash]) => receiptOf(hash as string),
  };

  function answer(call: Call): Answer {
    asked.push(call);
    const method = methods[call.method];
    if (method === undefined) return { id: call.id, error: { code: -32601, message: 'method not found' } };
    return { id: call.id, result: method(call.params) };
  }

  const server = createServer((request, response) => {
    void readText(request).then((text) => {
      const calls = JSON.parse(text) as Call | Call[];
      const answers = Array.isArray(calls) ? calls.map(answer) : answer(calls);
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answers));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    head: () => head,
    grow(blocks) {
      head += blocks;
    },
    pay(height, wallet, units) {
      transfers.set(height, { wallet, units });
      return transactionOf(height).slice(2);
    },
    forkAt(height) {
      forkedAt = height;
      for (const paid of transfers.keys()) if (paid >= height) transfers.delete(paid);
    },
    prune(height) {
      keptFrom = height;
    },
    timeOf,
    calls: () => asked,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
