import { createHash } from 'node:crypto';
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
const NO_BLOOM = new Uint8Array(256);
const FIRST_TIMESTAMP = 1_700_000_000;
const plainFace: ChainFace = {
  token: TOKEN,
  timestampOf: (number) => FIRST_TIMESTAMP + number,
  hasBloom: true,
  payee: null,
};

/** Numbers are at the end of a hash, so that a node can find the block, while indexes see random prefixes. */
const NUMBER_DIGITS = 8;
const POSITION_DIGITS = 4;

function blockHash(number: number): string {
  return `0x${sha256(`block ${number}`).slice(NUMBER_DIGITS)}${hexDigits(number, NUMBER_DIGITS)}`;
}

/** @returns NaN for a hash that is not of this chain. */
export function numberOfBlock(hash: string): number {
  return Number.parseInt(hash.slice(-NUMBER_DIGITS), 16);
}

/** The height of the block and the position in it. */
export function placeOfTransaction(hash: string): { number: number; position: number } {
  const digits = hash.slice(-NUMBER_DIGITS - POSITION_DIGITS);
  return {
    number: Number.parseInt(digits.slice(0, NUMBER_DIGITS), 16),
    position: Number.parseInt(digits.slice(NUMBER_DIGITS), 16),
  };
}

/** Always the same block for the same arguments, linked to the block before, with a correct Bloom filter. */
export function makeBlock(number: number, plan: BlockPlan, face: ChainFace = plainFace): SyntheticBlock {
  const block = { number, hash: blockHash(number), face, transactions: [] as string[], logs: [] as SyntheticLog[] };
  const bloom = new Uint8Array(256);
  const count = plan.events + plan.others + (plan.approvals ?? 0);
  for (let event = 0; event < count; event += 1) addTransaction(block, bloom, plan, event);
  const header = JSON.stringify({
    ...{ number: quantity(number), hash: block.hash, parentHash: number === 0 ? NO_HASH : blockHash(number - 1) },
    ...{ timestamp: quantity(face.timestampOf(number)), stateRoot: hash32(`state ${number}`) },
    logsBloom: hexOf(face.hasBloom ? bloom : NO_BLOOM),
    ...{ transactionsRoot: hash32(`transactions ${number}`), receiptsRoot: hash32(`receipts ${number}`) },
    ...{ miner: POOL, gasUsed: quantity(18_000_000), gasLimit: quantity(36_000_000), baseFeePerGas: quantity(3e9) },
    ...{
      difficulty: '0x0',
      extraData: '0x',
      nonce: '0x0000000000000000',
      uncles: [],
      transactions: block.transactions,
    },
  });
  return { ...block, header, receipts: () => receiptsOf(block) };
}

type Draft = Omit<SyntheticBlock, 'header' | 'receipts'> & { face: ChainFace; transactions: string[] };

function addTransaction(block: Draft, bloom: Uint8Array, plan: BlockPlan, event: number): void {
  const position = block.transactions.length;
  const random = sha256(`transaction ${block.number} ${event}`);
  const hash = `0x${random.slice(NUMBER_DIGITS + POSITION_DIGITS)}${hexDigits(block.number, NUMBER_DIGITS)}${hexDigits(position, POSITION_DIGITS)}`;
  block.transactions.push(hash);
  const pick = Number.parseInt(random.slice(0, 12), 16);
  const to = pick % WALLETS;
  const { token, payee } = block.face;
  const stranger = WATCHED_WALLETS + (Math.floor(pick / WALLETS) % WALLETS);
  const isMatch =
    Math.floor(((event + 1) * plan.matches) / plan.events) > Math.floor((event * plan.matches) / plan.events);
  const recipient = isMatch ? (payee ?? to) : WATCHED_WALLETS + to;
  const add = (address: string, topics: string[], data: string): void => {
    const json = logJson(block, position, hash, address, topics, data);
    block.logs.push({ transaction: position, address, topics, json });
    for (const item of [address, ...topics]) addToBloom(bloom, item);
  };
  const units = `0x${hexDigits(1 + (pick % 1e12), 64)}`;
  if (event >= plan.events + plan.others) {
    add(token, [APPROVAL_TOPIC, topicOf(stranger), topicOf(recipient)], units);
    return;
  }
  const isSwap = event % SWAP_EVERY === 0 || event >= plan.events;
  if (isSwap) add(WRAPPED, [TRANSFER_TOPIC, topicOf(stranger), topicOf(recipient)], units);
  if (event < plan.events) add(token, [TRANSFER_TOPIC, topicOf(stranger), topicOf(recipient)], units);
  if (isSwap) add(POOL, [SWAP_TOPIC, topicOf(stranger), topicOf(recipient)], `${units}${units.slice(2).repeat(4)}`);
}

/** Composed as text, in geth's order, because a measurement needs a hundred thousand of them. */
function logJson(
  block: Draft,
  position: number,
  hash: string,
  address: string,
  topics: string[],
  data: string,
): string {
  return (
    `{"address":"${address}","topics":["${topics.join('","')}"],"data":"${data}","blockNumber":"${quantity(block.number)}",` +
    `"transactionHash":"${hash}","transactionIndex":"${quantity(position)}","blockHash":"${block.hash}",` +
    `"blockTimestamp":"${quantity(block.face.timestampOf(block.number))}","logIndex":"${quantity(block.logs.length)}","removed":false}`
  );
}

function receiptsOf({ number, hash, face, transactions, logs }: Draft): string[] {
  const byTransaction = Map.groupBy(logs, ({ transaction }) => transaction);
  return transactions.map((transactionHash, position) => {
    const own = byTransaction.get(position) ?? [];
    const bloom = new Uint8Array(256);
    if (face.hasBloom)
      for (const { address, topics } of own) for (const item of [address, ...topics]) addToBloom(bloom, item);
    return (
      `{"blockHash":"${hash}","blockNumber":"${quantity(number)}","contractAddress":null,"cumulativeGasUsed":"0x1234567",` +
      `"effectiveGasPrice":"0xb2d05e00","from":"${POOL}","gasUsed":"0xfde8","logs":[${own.map(({ json }) => json).join(',')}],` +
      `"logsBloom":"${hexOf(bloom)}","status":"0x1","to":"${face.token}","transactionHash":"${transactionHash}",` +
      `"transactionIndex":"${quantity(position)}","type":"0x2"}`
    );
  });
}

const topics = new Map<number, string>();

function topicOf(wallet: number): string {
  return remembered(topics, wallet, () => `0x${'0'.repeat(24)}${walletAddress(wallet).slice(2)}`);
}

const bits = new Map<string, number[]>();

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

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hash32 = (text: string): string => `0x${sha256(text)}`;
const quantity = (value: number): string => `0x${value.toString(16)}`;
const hexDigits = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');
const hexOf = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`;
