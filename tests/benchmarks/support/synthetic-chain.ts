import { createHash } from 'node:crypto';
import { headerHash } from '@quittance/chain-reader/receipts/header.ts';
import { receiptBytes, type ReceiptAnswer } from '@quittance/chain-reader/receipts/receipt.ts';
import { receiptsTrie } from '@quittance/chain-reader/receipts/trie.ts';
import { keccak256 } from 'ethers';
import { WATCHED_WALLETS, walletAddress } from './synthetic-wallets.ts';

/** The token of the synthetic chain, in lowercase as nodes write it. */
export const TOKEN = '0xdac17f958d2ee523a2206206994597c13d831ec7';
export const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
export const CHAIN_ID = 31_337;

/** The content of a block. */
export type BlockPlan = {
  /** Transactions that transfer the token, once each. */
  events: number;
  /** How many of them, spread evenly, go to watched wallets. */
  matches: number;
  /** Transactions that transfer another token. */
  others: number;
  /** Transactions in which the token logs another event: its header's filter then allows a transfer where there is none. */
  approvals?: number;
};

/** How a chain shows its blocks. */
export type ChainFace = {
  /** In lowercase, as nodes write it. */
  token: string;
  /** Unix seconds. */
  timestampOf: (number: number) => number;
  /** Tron's headers carry an empty filter. */
  hasBloom: boolean;
  /** The wallet, by its number, to which all matches go; null for any watched one. */
  payee: number | null;
  /** Whether the receipts root is that of the receipts. Inventing it is many times faster, where nobody proves the block. Default: always. */
  hasTrueRoot?: (plan: BlockPlan) => boolean;
};

/** One event; its position in the block is its place in the list. */
export type SyntheticLog = { transaction: number; address: string; topics: string[]; json: string };

/** A block with all its answers, as JSON in geth's format. */
export type SyntheticBlock = {
  number: number;
  hash: string;
  header: string;
  logs: SyntheticLog[];
  /** By the position of the transaction in the block. */
  receipts(): string[];
};

/** Blocks in sequence. Hashes and receipts roots are true, so each block's hash depends on all blocks before it. */
export type SyntheticChain = {
  /** The number of blocks so far; block 0 is the first. */
  length(): number;
  append(plan: BlockPlan): SyntheticBlock;
  /** The same block once more, which takes as long as the first time. @param plan as when it was appended. */
  again(number: number, plan: BlockPlan): SyntheticBlock;
  /** @returns NaN for a hash that is not of this chain. */
  numberOf(hash: string): number;
};

/** Every third transaction is a swap, with an event of another contract before and after the transfer. */
const SWAP_EVERY = 3;
/** The number of wallets that take part; their Bloom filter hashes are cached. */
const WALLETS = 20_000;
const POOL = '0x11b815efb8f581194ae79006d24e0d814b7697f6';
const WRAPPED = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2';
const APPROVAL_TOPIC = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925';
const SWAP_TOPIC = '0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67';
/** The parent of the first block. */
const NO_HASH = `0x${'0'.repeat(64)}`;
/** Of an empty list. */
const NO_UNCLES = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347';
/** Of each transaction. */
const GAS = 65_000;
/** As Ethereum has them since the Prague fork. Other networks' headers are a little shorter. */
const fieldsOfPrague = {
  baseFeePerGas: quantity(3e9),
  withdrawalsRoot: hash32('withdrawals'),
  blobGasUsed: quantity(131_072),
  excessBlobGas: quantity(0),
  parentBeaconBlockRoot: hash32('beacon'),
  requestsHash: hash32('requests'),
};
const FIRST_TIMESTAMP = 1_700_000_000;
const plainFace: ChainFace = {
  token: TOKEN,
  timestampOf: (number) => FIRST_TIMESTAMP + number,
  hasBloom: true,
  payee: null,
};

export function createChain(face: ChainFace = plainFace): SyntheticChain {
  const hashes: string[] = [];
  const numbers = new Map<string, number>();
  const make = (number: number, plan: BlockPlan) => makeBlock(number, hashes[number - 1] ?? NO_HASH, plan, face);
  return {
    length: () => hashes.length,
    append(plan) {
      const block = make(hashes.length, plan);
      hashes.push(block.hash);
      numbers.set(block.hash, block.number);
      return block;
    },
    again: make,
    numberOf: (hash) => numbers.get(hash) ?? Number.NaN,
  };
}

/** A transaction's hash ends with its place, so that a node can find it, while indexes see random prefixes. No block's hash covers it. */
const NUMBER_DIGITS = 8;
const POSITION_DIGITS = 4;

/** The height of the block and the position in it. */
export function placeOfTransaction(hash: string): { number: number; position: number } {
  const digits = hash.slice(-NUMBER_DIGITS - POSITION_DIGITS);
  return {
    number: Number.parseInt(digits.slice(0, NUMBER_DIGITS), 16),
    position: Number.parseInt(digits.slice(NUMBER_DIGITS), 16),
  };
}

type DraftLog = { address: string; topics: string[]; data: string };
type DraftTransaction = { hash: string; logs: DraftLog[]; receipt: ReceiptAnswer };

/** Always the same block for the same arguments, with correct Bloom filters, receipts root and hash. */
function makeBlock(number: number, parentHash: string, plan: BlockPlan, face: ChainFace): SyntheticBlock {
  const bloom = new Uint8Array(256);
  const count = plan.events + plan.others + (plan.approvals ?? 0);
  const transactions = Array.from({ length: count }, (_, position) => makeTransaction(number, plan, position, face));
  if (face.hasBloom) for (const { logs } of transactions) addLogs(bloom, logs);
  const hasTrueRoot = face.hasTrueRoot?.(plan) ?? true;
  const receiptsRoot = hasTrueRoot
    ? receiptsTrie(transactions.map(({ receipt }) => receiptBytes(receipt))).root
    : hash32(`receipts ${number}`);
  const header = {
    ...{ parentHash, sha3Uncles: NO_UNCLES, miner: POOL, stateRoot: hash32(`state ${number}`) },
    ...{ transactionsRoot: hash32(`transactions ${number}`), receiptsRoot, logsBloom: hexOf(bloom) },
    ...{ difficulty: '0x0', number: quantity(number), gasLimit: quantity(36_000_000) },
    ...{ gasUsed: quantity(count * GAS), timestamp: quantity(face.timestampOf(number)), extraData: '0x' },
    ...{ mixHash: hash32(`mix ${number}`), nonce: '0x0000000000000000', ...fieldsOfPrague },
  };
  const hash = headerHash(header);
  const place = { number, hash, timestamp: face.timestampOf(number) };
  const logs = transactions
    .flatMap((transaction, position) => transaction.logs.map((log) => ({ ...log, position, id: transaction.hash })))
    .map((log, index) => ({
      ...{ transaction: log.position, address: log.address, topics: log.topics },
      json: logJson(place, log, index),
    }));
  const hashes = transactions.map((transaction) => transaction.hash);
  return {
    ...{ number, hash, logs, header: JSON.stringify({ ...header, hash, uncles: [], transactions: hashes }) },
    receipts: () => receiptsJson(place, face, transactions, logs),
  };
}

function makeTransaction(number: number, plan: BlockPlan, position: number, face: ChainFace): DraftTransaction {
  const random = sha256(`transaction ${number} ${position}`);
  const place = `${hexDigits(number, NUMBER_DIGITS)}${hexDigits(position, POSITION_DIGITS)}`;
  const logs = logsOf(plan, position, Number.parseInt(random.slice(0, 12), 16), face);
  const bloom = new Uint8Array(256);
  if (face.hasBloom) addLogs(bloom, logs);
  const cumulativeGasUsed = quantity((position + 1) * GAS);
  return {
    ...{ hash: `0x${random.slice(NUMBER_DIGITS + POSITION_DIGITS)}${place}`, logs },
    receipt: { type: '0x2', status: '0x1', cumulativeGasUsed, logsBloom: hexOf(bloom), logs },
  };
}

/** @param pick a number that decides who takes part and how much is moved. */
function logsOf(plan: BlockPlan, event: number, pick: number, { token, payee }: ChainFace): DraftLog[] {
  const to = pick % WALLETS;
  const stranger = WATCHED_WALLETS + (Math.floor(pick / WALLETS) % WALLETS);
  const isMatch =
    Math.floor(((event + 1) * plan.matches) / plan.events) > Math.floor((event * plan.matches) / plan.events);
  const recipient = isMatch ? (payee ?? to) : WATCHED_WALLETS + to;
  const units = `0x${hexDigits(1 + (pick % 1e12), 64)}`;
  const log = (address: string, topic: string, data = units): DraftLog => {
    return { address, topics: [topic, topicOf(stranger), topicOf(recipient)], data };
  };
  if (event >= plan.events + plan.others) return [log(token, APPROVAL_TOPIC)];
  const isSwap = event % SWAP_EVERY === 0 || event >= plan.events;
  return [
    ...(isSwap ? [log(WRAPPED, TRANSFER_TOPIC)] : []),
    ...(event < plan.events ? [log(token, TRANSFER_TOPIC)] : []),
    ...(isSwap ? [log(POOL, SWAP_TOPIC, `${units}${units.slice(2).repeat(4)}`)] : []),
  ];
}

type Place = { number: number; hash: string; timestamp: number };

/** Composed as text, in geth's order, because a measurement needs a hundred thousand of them. */
function logJson(
  { number, hash, timestamp }: Place,
  { address, topics, data, position, id }: DraftLog & { position: number; id: string },
  index: number,
): string {
  return (
    `{"address":"${address}","topics":["${topics.join('","')}"],"data":"${data}","blockNumber":"${quantity(number)}",` +
    `"transactionHash":"${id}","transactionIndex":"${quantity(position)}","blockHash":"${hash}",` +
    `"blockTimestamp":"${quantity(timestamp)}","logIndex":"${quantity(index)}","removed":false}`
  );
}

function receiptsJson(
  { number, hash }: Place,
  { token }: ChainFace,
  transactions: readonly DraftTransaction[],
  logs: readonly SyntheticLog[],
): string[] {
  const byTransaction = Map.groupBy(logs, ({ transaction }) => transaction);
  return transactions.map(({ hash: id, receipt }, position) => {
    const own = byTransaction.get(position) ?? [];
    return (
      `{"blockHash":"${hash}","blockNumber":"${quantity(number)}","contractAddress":null,"cumulativeGasUsed":"${receipt.cumulativeGasUsed}",` +
      `"effectiveGasPrice":"0xb2d05e00","from":"${POOL}","gasUsed":"${quantity(GAS)}","logs":[${own.map(({ json }) => json).join(',')}],` +
      `"logsBloom":"${receipt.logsBloom}","status":"0x1","to":"${token}","transactionHash":"${id}",` +
      `"transactionIndex":"${quantity(position)}","type":"0x2"}`
    );
  });
}

const topics = new Map<number, string>();

function topicOf(wallet: number): string {
  return remembered(topics, wallet, () => `0x${'0'.repeat(24)}${walletAddress(wallet).slice(2)}`);
}

const bits = new Map<string, number[]>();

function addLogs(bloom: Uint8Array, logs: readonly DraftLog[]): void {
  for (const { address, topics } of logs) for (const item of [address, ...topics]) addToBloom(bloom, item);
}

/** Source: Ethereum Yellow Paper, section 4.4.3. */
function addToBloom(bloom: Uint8Array, item: string): void {
  const three = remembered(bits, item, () => {
    const digest = Buffer.from(keccak256(item).slice(2), 'hex');
    return [0, 2, 4].map((at) => digest.readUInt16BE(at) & 2047);
  });
  for (const bit of three) {
    const at = bloom.length - 1 - (bit >> 3);
    bloom[at] = (bloom[at] ?? 0) | (1 << (bit & 7));
  }
}

function remembered<K, V>(known: Map<K, V>, key: K, make: () => V): V {
  const found = known.get(key);
  if (found !== undefined) return found;
  const value = make();
  known.set(key, value);
  return value;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function hash32(text: string): string {
  return `0x${sha256(text)}`;
}

function quantity(value: number): string {
  return `0x${value.toString(16)}`;
}

const hexDigits = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');
const hexOf = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`;
