import type { Block, Receipt } from '../rpc/answers.ts';
import { readWholeBlock, type Asked } from '../rpc/reads.ts';
import { provenHeader, type HeaderAnswer } from '../receipts/header.ts';
import { receiptBytes, type ReceiptAnswer } from '../receipts/receipt.ts';
import { receiptsTrie } from '../receipts/trie.ts';

/** Where a receipt is in its block, with all that proves it to somebody who trusts the block's hash. */
export type ReceiptProof = {
  /** The endpoint that showed the block. */
  endpoint: number;
  /** Of the transaction in its block, from 0. */
  index: number;
  /** The block's header as RLP. */
  header: Buffer;
  /** The branch of the receipts trie, from its root to the receipt's leaf. */
  nodes: Buffer[];
};

/** A block whose header and receipts follow from its hash. */
export type ProvenBlock = { block: Block; receipts: Receipt[]; proofOf: (index: number) => ReceiptProof };

/**
 * Reads a block with all its receipts, two calls in one request, and proves both by the block's hash. What a hash does not cover are the
 * ids of the transactions: the receipts do not contain them.
 * @throws RpcError `invalid_answer` when the block is not in the node's chain, or its receipts do not make up its receipts root.
 */
export async function readProvenBlock(rpc: Asked, place: Pick<Block, 'number' | 'hash'>): Promise<ProvenBlock> {
  const { block, header: answer, receipts } = await readWholeBlock(rpc, place);
  const header = provenHeader(answer as HeaderAnswer);
  const trie = trieOf(receipts);
  if (header === null || trie === null || trie.root !== (answer as HeaderAnswer)['receiptsRoot'])
    throw rpc.disproved(`the receipts of block ${String(place.number)} do not make up its hash`);
  return {
    block,
    receipts,
    proofOf: (index) => ({ endpoint: rpc.endpoint, index, header, nodes: trie.branch(index) }),
  };
}

/** @returns null when a receipt is malformed. */
function trieOf(receipts: readonly Receipt[]) {
  try {
    return receiptsTrie(receipts.map(({ answer }) => receiptBytes(answer as ReceiptAnswer)));
  } catch (error) {
    if (error instanceof TypeError || error instanceof SyntaxError) return null;
    throw error;
  }
}
