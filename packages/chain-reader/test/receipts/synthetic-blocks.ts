import { keccak256 } from 'ethers/crypto';
import { headerBytes, headerHash, type HeaderAnswer } from '../../src/receipts/header.ts';
import { receiptBytes, type ReceiptAnswer } from '../../src/receipts/receipt.ts';
import { receiptsTrie } from '../../src/receipts/trie.ts';

/** A transfer of the token in a made block. */
export type MadeTransfer = { to: string; units: bigint };

export type MadeBlock = { header: HeaderAnswer; hash: string; receipts: ReceiptAnswer[] };

/** Bytes that follow from a text, so that made blocks are the same in every run. */
export const word = (text: string): string => keccak256(Buffer.from(text));
export const addressOf = (text: string): string => `0x${word(text).slice(26)}`;
const hex = (value: number | bigint): string => `0x${value.toString(16)}`;

export const TRANSFER_TOPIC = word('Transfer(address,address,uint256)');

/** What the header of a network has in addition, by the fork that is in force there. */
export const fieldsOfFork = {
  london: { baseFeePerGas: hex(7) },
  cancun: {
    baseFeePerGas: hex(1_000_000_000),
    withdrawalsRoot: word('withdrawals'),
    blobGasUsed: hex(131_072),
    excessBlobGas: hex(0),
    parentBeaconBlockRoot: word('beacon'),
  },
  prague: {
    baseFeePerGas: hex(0),
    withdrawalsRoot: word('withdrawals'),
    blobGasUsed: hex(0),
    excessBlobGas: hex(0),
    parentBeaconBlockRoot: word('beacon'),
    requestsHash: word('requests'),
  },
  granite: {
    extDataHash: word('ext data'),
    baseFeePerGas: hex(1),
    extDataGasUsed: hex(0),
    blockGasCost: hex(0),
    blobGasUsed: hex(0),
    excessBlobGas: hex(0),
    parentBeaconBlockRoot: `0x${'00'.repeat(32)}`,
    timestampMilliseconds: hex(1_790_000_000_123),
    minDelayExcess: hex(7_970_124),
  },
} as const;

/** A block of these receipts: everything that a proof follows is real, everything else follows from its name. */
export function makeBlock(name: string, fields: HeaderAnswer, receipts: ReceiptAnswer[]): MadeBlock {
  const header: HeaderAnswer = {
    parentHash: word(`${name} parent`),
    sha3Uncles: word(`${name} uncles`),
    miner: addressOf(`${name} miner`),
    stateRoot: word(`${name} state`),
    transactionsRoot: word(`${name} transactions`),
    receiptsRoot: receiptsTrie(receipts.map(receiptBytes)).root,
    logsBloom: `0x${'00'.repeat(256)}`,
    difficulty: '0x0',
    number: hex(20_000_000 + name.length),
    gasLimit: hex(36_000_000),
    gasUsed: receipts.at(-1)?.cumulativeGasUsed ?? '0x0',
    timestamp: hex(1_790_000_000),
    extraData: '0x',
    mixHash: word(`${name} mix`),
    nonce: '0x0000000000000000',
    ...fields,
  };
  return { header, hash: headerHash(header), receipts };
}

/** A receipt of a transaction that makes these transfers, between events of other contracts. */
export function makeReceipt(
  index: number,
  token: string,
  transfers: readonly MadeTransfer[],
  more: Partial<ReceiptAnswer> = {},
): ReceiptAnswer {
  const other = { address: addressOf(`other ${index}`), topics: [word('Other()')], data: '0x' };
  const events = transfers.map(({ to, units }, at) => ({
    address: token,
    topics: [TRANSFER_TOPIC, topicOf(addressOf(`payer ${index} ${at}`)), topicOf(to)],
    data: `0x${units.toString(16).padStart(64, '0')}`,
  }));
  return {
    type: hex(index % 5),
    status: '0x1',
    cumulativeGasUsed: hex(21_000 * (index + 1)),
    logsBloom: `0x${'00'.repeat(255)}01`,
    logs: transfers.length === 0 ? [] : [other, ...events, other],
    ...more,
  };
}

const topicOf = (address: string): string => `0x${address.slice(2).padStart(64, '0')}`;

/** Which transfers of a block are those of a payment: [index of the transaction, position of the event]. */
export type Places = readonly (readonly [index: number, logIndex: number])[];
export type ProofFacts = {
  network: string;
  chainId: number;
  token: string;
  amount: string;
  accepted?: string | undefined;
  wallet: string;
};

/** The proof as the API answers it. */
export function makeProof({ header, hash, receipts }: MadeBlock, facts: ProofFacts, places: Places) {
  const encoded = receipts.map(receiptBytes);
  const trie = receiptsTrie(encoded);
  const text = (bytes: Buffer): string => `0x${bytes.toString('hex')}`;
  const timestamp = new Date(Number(header['timestamp']) * 1_000).toISOString();
  return {
    version: 1 as const,
    payment: {
      payment_id: `pay_${word(facts.amount).slice(2, 34)}`,
      amount: facts.amount,
      ...(facts.accepted !== undefined && { accepted_amount: facts.accepted }),
      merchant_wallet: facts.wallet,
      network: facts.network,
      description: 'Order 1007',
      created_at: '2026-09-21T14:02:03.000Z',
      paid_at: '2026-09-21T14:15:41.000Z',
    },
    chain_id: facts.chainId,
    token: facts.token,
    block: { number: Number(header['number']), hash, timestamp, header: text(headerBytes(header)) },
    receipts: places.map(([index, logIndex]) => ({
      transaction_id: word(`transaction ${index}`).slice(2),
      index,
      rlp: text(encoded[index]!),
      nodes: trie.branch(index).map(text),
      log_index: logIndex,
    })),
    finality: { rule: 'finalized', confirmations: 64, agreed_by: 2 },
  };
}
