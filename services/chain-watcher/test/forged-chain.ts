import type { HeaderAnswer } from '@quittance/chain-reader/receipts/header.ts';
import type { ReceiptAnswer } from '@quittance/chain-reader/receipts/receipt.ts';
import type { TestChain } from '@quittance/testkit/chain.ts';
import type { Answer, Call } from '@quittance/testkit/chain/misbehaving-node.ts';
import { sealBlock } from '../../../packages/chain-reader/test/receipts/seal-block.ts';

export type RawLog = { address: string; topics: string[]; data: string; blockHash: string; [field: string]: unknown };
export type RawReceipt = Omit<ReceiptAnswer, 'logs'> & {
  transactionHash: string;
  blockHash: string;
  logs: RawLog[];
  [field: string]: unknown;
};
type ForgedBlock = { header: HeaderAnswer; receipts: RawReceipt[] };

/**
 * A branch from this height to the head, in which the first block has other receipts. Everything fits: receipts root, hashes, parents. Only
 * another node can tell that it is not the chain.
 * @returns how a node answers that shows it.
 */
export async function forgeFrom(
  chain: TestChain,
  height: number,
  change: (receipts: RawReceipt[]) => RawReceipt[],
): Promise<(call: Call, answer: Answer) => Partial<Answer> | undefined> {
  const head = Number(await chain.rpc<string>('eth_blockNumber'));
  const blocks: ForgedBlock[] = [];
  for (let number = height; number <= head; number += 1) {
    const at = `0x${number.toString(16)}`;
    const header = await chain.rpc<HeaderAnswer>('eth_getBlockByNumber', [at, false]);
    const receipts = await chain.rpc<RawReceipt[]>('eth_getBlockReceipts', [at]);
    const parent = blocks.at(-1)?.header['hash'] ?? header['parentHash'];
    blocks.push(sealBlock({ ...header, parentHash: parent }, number === height ? change(receipts) : receipts));
  }
  return (call) => answerFrom(blocks, height, call);
}

function answerFrom(blocks: readonly ForgedBlock[], height: number, { method, params }: Call) {
  const [asked] = params;
  const byHash = (hash: unknown) => blocks.find(({ header }) => header['hash'] === hash);
  const byNumber = (tag: unknown) => (tag === 'latest' ? blocks.at(-1) : blocks[Number(tag) - height]);
  if (method === 'eth_getBlockByNumber') return resultOf(byNumber(asked)?.header);
  if (method === 'eth_getBlockByHash') return resultOf(byHash(asked)?.header);
  if (method === 'eth_getBlockReceipts') return resultOf(byHash(asked)?.receipts);
  if (method === 'eth_getLogs')
    return resultOf(byHash((asked as { blockHash?: string }).blockHash)?.receipts.flatMap(({ logs }) => logs));
  return undefined;
}

const resultOf = (result: unknown): Partial<Answer> | undefined => (result === undefined ? undefined : { result });
