import { data, encodeRlp, quantity } from './rlp.ts';

/** A receipt as eth_getTransactionReceipt answers it: what its block's receipts root is made of. */
export type ReceiptAnswer = {
  type?: string;
  status?: string | null;
  /** Before Byzantium, in place of the status: the root of the state after the transaction. */
  root?: string | null;
  cumulativeGasUsed: string;
  logsBloom: string;
  logs: readonly { address: string; topics: readonly string[]; data: string }[];
  /** OP Stack. */
  depositNonce?: string | null;
  /** OP Stack, from Canyon on. */
  depositReceiptVersion?: string | null;
  /** Celo, of transactions that pay their fee in another currency (CIP-64). */
  baseFee?: string | null;
};

const DEPOSIT_OF_OP_STACK = 0x7e;
const FEE_CURRENCY_OF_CELO = 0x7b;

/**
 * A receipt as the trie of its block has it: RLP, behind a byte for its type unless it is of the first kind (EIP-2718). This holds for
 * every type of transaction of Ethereum, Arbitrum (0x64 to 0x6a) and Polygon (0x7f, in the receipts root since PIP-74), except two that
 * have more fields.
 */
export function receiptBytes(receipt: ReceiptAnswer): Buffer {
  const type = Number(receipt.type ?? '0x0');
  const logs = receipt.logs.map((log) => [data(log.address), log.topics.map(data), data(log.data)]);
  const fields = [statusOf(receipt), quantity(receipt.cumulativeGasUsed), data(receipt.logsBloom), logs];
  const list = encodeRlp([...fields, ...furtherFields(type, receipt)]);
  return type === 0 ? list : Buffer.concat([Buffer.from([type]), list]);
}

function furtherFields(type: number, { depositNonce, depositReceiptVersion, baseFee }: ReceiptAnswer): Buffer[] {
  // Nodes answer the nonce of older deposits too, but only with a version is it in the trie. Source: the OP Stack's specification, Canyon.
  if (type === DEPOSIT_OF_OP_STACK && isText(depositNonce) && isText(depositReceiptVersion))
    return [quantity(depositNonce), quantity(depositReceiptVersion)];
  return type === FEE_CURRENCY_OF_CELO && isText(baseFee) ? [quantity(baseFee)] : [];
}

const statusOf = ({ status, root }: ReceiptAnswer): Buffer =>
  isText(root) && !isText(status) ? data(root) : quantity(status ?? '0x0');

const isText = (value: string | null | undefined): value is string => typeof value === 'string';
