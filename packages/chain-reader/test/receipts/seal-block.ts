import { headerHash, type HeaderAnswer } from '../../src/receipts/header.ts';
import { receiptBytes, type ReceiptAnswer } from '../../src/receipts/receipt.ts';
import { receiptsTrie } from '../../src/receipts/trie.ts';

type Log = ReceiptAnswer['logs'][number];

/**
 * Gives a block the receipts root of these receipts, and the hash of its header. Fields that a header or a receipt lacks are made up.
 * @returns both as a node answers them; every receipt and event names the block's hash.
 */
export function sealBlock<Header extends HeaderAnswer, Receipt extends { logs: readonly Log[] }>(
  header: Header,
  receipts: readonly Receipt[],
): { header: Header & { hash: string }; receipts: Receipt[] } {
  const whole = receipts.map((receipt, at) => ({ ...receiptFields(at), ...receipt }));
  const { root } = receiptsTrie(whole.map((receipt) => receiptBytes(receipt as unknown as ReceiptAnswer)));
  const sealed = { ...headerFields, ...header, receiptsRoot: root };
  const hash = headerHash(sealed);
  const inBlock = <Thing extends object>(thing: Thing) => ({ ...thing, blockHash: hash });
  return {
    header: { ...sealed, hash },
    receipts: whole.map((receipt) => inBlock({ ...receipt, logs: receipt.logs.map(inBlock) })),
  };
}

const word = `0x${'11'.repeat(32)}`;
const noBloom = `0x${'00'.repeat(256)}`;

const headerFields = {
  ...{ sha3Uncles: word, miner: `0x${'22'.repeat(20)}`, stateRoot: word, transactionsRoot: word, logsBloom: noBloom },
  ...{ difficulty: '0x0', gasLimit: '0x1c9c380', gasUsed: '0x0', extraData: '0x', mixHash: word },
  ...{ nonce: '0x0000000000000000', baseFeePerGas: '0x7' },
};

const receiptFields = (at: number) => ({
  ...{ type: '0x2', status: '0x1', cumulativeGasUsed: `0x${(21_000 * (at + 1)).toString(16)}`, logsBloom: noBloom },
});
