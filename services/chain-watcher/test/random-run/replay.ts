import { readBlocks, askNode } from './node-rpc.ts';
import type { Block, Receipt } from './chain-history.ts';

/** A transfer of the token, as in its receipt. Lowercase hex; `transaction` and `blockHash` without 0x. */
export type ToldTransfer = {
  transaction: string;
  /** Position of the event in its receipt, from 0. */
  position: number;
  blockNumber: number;
  blockHash: string;
  /** Unix seconds. */
  timestamp: number;
  from: string;
  to: string;
  units: string;
};

/** keccak256 of "Transfer(address,address,uint256)", from the token standard. */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/**
 * Every transfer of the token that its chain holds now, read from all receipts of all blocks by a second wording of the rules: none of the
 * service's code is behind it.
 */
export async function replay(rpcUrl: string, token: string): Promise<ToldTransfer[]> {
  const head = Number(await askNode<string>(rpcUrl, 'eth_blockNumber'));
  return (await readBlocks(rpcUrl, 0, head)).flatMap(({ block, receipts }) => transfersIn(block, receipts, token));
}

/** The transfers of the token in a block's receipts, without zero amounts. */
export function transfersIn(block: Block, receipts: readonly Receipt[], token: string): ToldTransfer[] {
  return receipts.flatMap(({ status, transactionHash, logs }) =>
    logs.flatMap(({ address, topics, data }, position): ToldTransfer[] => {
      const [topic, from, to] = topics;
      if (status !== '0x1' || address.toLowerCase() !== token.toLowerCase()) return [];
      if (topics.length !== 3 || topic !== TRANSFER || from === undefined || to === undefined) return [];
      if (BigInt(data) === 0n) return [];
      return [
        {
          ...{ transaction: transactionHash.slice(2), position },
          ...{ blockNumber: Number(block.number), blockHash: block.hash.slice(2), timestamp: Number(block.timestamp) },
          ...{ from: `0x${from.slice(-40)}`, to: `0x${to.slice(-40)}`, units: BigInt(data).toString() },
        },
      ];
    }),
  );
}

export const eventOf = ({ transaction, position }: Pick<ToldTransfer, 'transaction' | 'position'>): string =>
  `${transaction} ${position}`;
