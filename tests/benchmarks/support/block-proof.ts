import { gzipSync } from 'node:zlib';
import { headerHash, provenHeader, type HeaderAnswer } from '@quittance/chain-reader/receipts/header.ts';
import { receiptBytes, type ReceiptAnswer } from '@quittance/chain-reader/receipts/receipt.ts';
import { receiptsTrie } from '@quittance/chain-reader/receipts/trie.ts';
import { parseReceipt } from '@quittance/chain-reader/rpc/answers.ts';

/** What proving one block costs. */
export type ProofCost = {
  receipts: number;
  /** Of the answer to eth_getBlockReceipts. */
  bytes: number;
  compressedBytes: number;
  /** CPU time of each step, in microseconds for one block. */
  us: { parse: number; header: number; encode: number; trie: number };
};

/**
 * Repeats each step of a proof on this block of the node.
 * @throws Error when the block is not proven by these steps: their speed would say nothing.
 */
export async function measureProof(url: string, number: number, durationMs: number): Promise<ProofCost> {
  const at = `0x${number.toString(16)}`;
  const header = JSON.parse(await answerOf(url, 'eth_getBlockByNumber', [at, false])) as HeaderAnswer;
  const text = await answerOf(url, 'eth_getBlockReceipts', [at]);
  const receipts = JSON.parse(text) as ReceiptAnswer[];
  const encoded = receipts.map(receiptBytes);
  const isProven = headerHash(header) === header['hash'] && receiptsTrie(encoded).root === header['receiptsRoot'];
  if (!isProven) throw new Error(`block ${number} is not proven by its hash`);
  const cpuOf = (step: () => unknown) => cpuUsOf(step, durationMs);
  return {
    receipts: receipts.length,
    bytes: text.length,
    compressedBytes: gzipSync(text).length,
    us: {
      parse: cpuOf(() => (JSON.parse(text) as unknown[]).map(parseReceipt)),
      header: cpuOf(() => provenHeader(header)),
      encode: cpuOf(() => receipts.map(receiptBytes)),
      trie: cpuOf(() => receiptsTrie(encoded)),
    },
  };
}

function cpuUsOf(step: () => unknown, durationMs: number): number {
  step();
  const startedAt = performance.now();
  const before = process.cpuUsage();
  let count = 0;
  do {
    step();
    count += 1;
  } while (performance.now() - startedAt < durationMs);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

/** The result as text, without its envelope. */
async function answerOf(url: string, method: string, params: unknown[]): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return JSON.stringify(((await response.json()) as { result: unknown }).result);
}
