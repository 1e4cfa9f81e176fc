import {
  parseBlock,
  parseLogs,
  parseReceipt,
  parseTransaction,
  quantity,
  type Block,
  type Log,
  type Receipt,
  type TransactionAnswer,
} from './answers.ts';
import { RpcError, type RpcErrorKind } from './errors.ts';
import { MAX_BATCH_REQUESTS, type RpcProvider } from './provider.ts';

/** Which events to ask for; topics as in eth_getLogs, null for "any". */
export type LogFilter = { address: string; topics: (string | string[] | null)[] };

/** Something that sends requests to a node. */
export type Asked = Pick<RpcProvider, 'send' | 'disproved' | 'endpoint'>;

/** Sends each distinct request only once. Use it for one reading: it never forgets an answer. */
export function askingOnce(rpc: Asked): Asked {
  const answers = new Map<string, Promise<unknown>>();
  return {
    endpoint: rpc.endpoint,
    disproved: (what) => rpc.disproved(what),
    send(method, params) {
      const question = `${method} ${JSON.stringify(params)}`;
      const answer = answers.get(question) ?? rpc.send(method, params);
      answers.set(question, answer);
      return answer;
    },
  };
}

// Reads that start together (Promise.all) are sent as one batch, unless it is larger than the node or our budget allows. One node probably
// answers them from one state, but nothing may rely on that.

/**
 * Reads many small items, at most as many at once as fit into one batch.
 * @param calls requests for each item.
 * @returns the answers, in the order of the items.
 */
export async function inBatches<Item, Answer>(
  items: readonly Item[],
  calls: number,
  read: (item: Item) => Promise<Answer>,
): Promise<Answer[]> {
  const room = Math.floor(MAX_BATCH_REQUESTS / calls);
  const answers: Answer[] = [];
  for (let start = 0; start < items.length; start += room) {
    answers.push(...(await Promise.all(items.slice(start, start + room).map(read))));
  }
  return answers;
}

export async function readChainId(rpc: RpcProvider): Promise<number> {
  return quantity(await rpc.send('eth_chainId', []), 'chain id');
}

export async function readHead(rpc: Asked): Promise<Block> {
  return parseBlock(await rpc.send('eth_getBlockByNumber', ['latest', false]));
}

/**
 * The errors by which nodes say that they have no final block: after a restart, without support for the tag, in words that we do not know, or
 * because the whole batch is too large.
 */
const NO_FINAL_BLOCK: readonly RpcErrorKind[] = [
  'unsupported',
  'unknown_block',
  'unknown',
  'refused',
  'invalid_answer',
  'range',
];

/** @returns the last block that the node calls final, or null when it names none. Other reads can still succeed then. */
export async function readFinalized(rpc: Asked): Promise<Block | null> {
  try {
    const block: unknown = await rpc.send('eth_getBlockByNumber', ['finalized', false]);
    return block === null ? null : parseBlock(block);
  } catch (error) {
    if (error instanceof RpcError && NO_FINAL_BLOCK.includes(error.kind)) return null;
    throw error;
  }
}

/** @returns the node's block at this height, or null when its chain is shorter. */
export async function readBlockAt(rpc: Asked, number: number): Promise<Block | null> {
  const answer: unknown = await rpc.send('eth_getBlockByNumber', [hexOf(number), false]);
  if (answer === null) return null;
  const block = parseBlock(answer);
  if (block.number !== number) throw new RpcError('invalid_answer', 'a different block than the one requested');
  return block;
}

/** @returns the node's blocks at these heights, in that order. */
export function readBlocksAt(rpc: Asked, numbers: readonly number[]): Promise<(Block | null)[]> {
  return inBatches(numbers, 1, (number) => readBlockAt(rpc, number));
}

/**
 * The events of one block, requested by hash. An event proves that the node has the block. A node without the block may answer with an empty
 * list or any error, so after one of these it is also asked for the block.
 * @param isProvedNext whether the caller checks an empty answer itself. If so, it is returned as it is.
 * @throws RpcError `unknown_block` when the node does not have the block; `unsupported` when it has the block and refuses its events.
 */
export async function readLogsOfBlock(
  rpc: RpcProvider,
  hash: string,
  filter: LogFilter | null,
  isProvedNext: boolean,
): Promise<Log[]> {
  const answer = await rpc.send('eth_getLogs', [{ blockHash: hash, ...filter }]).catch((error: unknown) => {
    if (error instanceof RpcError && mayBeRefusal(error)) return error;
    throw error;
  });
  const logs = answer instanceof RpcError ? [] : checkedLogs(answer, (log) => log.blockHash === hash);
  if (logs.length > 0 || (isProvedNext && !(answer instanceof RpcError))) return logs;
  await requireBlock(rpc, hash);
  if (answer instanceof RpcError) throw answer.kind === 'range' ? answer : new RpcError('unsupported', answer.message);
  return logs;
}

async function requireBlock(rpc: RpcProvider, hash: string): Promise<void> {
  const block: unknown = await rpc.send('eth_getBlockByHash', [hash, false]);
  if (block === null) throw new RpcError('unknown_block', 'the node does not have the block whose logs were requested');
  if (parseBlock(block).hash !== hash) throw new RpcError('invalid_answer', 'a different block than the one requested');
}

/** Errors that may be a refusal, or may mean that the node does not have the block. */
const PERHAPS_REFUSED: readonly RpcErrorKind[] = [
  'range',
  'unsupported',
  'unknown',
  'refused',
  'timeout',
  'unreachable',
];
const mayBeRefusal = ({ kind, isAnswer }: RpcError): boolean => isAnswer && PERHAPS_REFUSED.includes(kind);

/** Errors that count as a refusal of this request once the node has answered another one of the same batch. */
const REFUSALS: readonly RpcErrorKind[] = ['unknown', 'refused', 'timeout'];

/**
 * A node that answers about a block, but not about its events, refuses the request. Its error text does not matter, because no list of such
 * texts is ever complete.
 * @throws RpcError `unsupported` for such a refusal; other errors unchanged.
 */
export async function unlessRefused<Header, Events>(
  headers: Promise<Header>,
  events: Promise<Events>,
): Promise<[Header, Events]> {
  const [header, answer] = await Promise.allSettled([headers, events]);
  if (header.status === 'rejected') throw header.reason;
  if (answer.status === 'fulfilled') return [header.value, answer.value];
  const error: unknown = answer.reason;
  throw error instanceof RpcError && REFUSALS.includes(error.kind) ? new RpcError('unsupported', error.message) : error;
}

/** The events of the blocks `from` to `to`, both included. This alone does not prove that the node has those blocks. */
export async function readLogsOfRange(
  rpc: RpcProvider,
  from: number,
  to: number,
  filter: LogFilter | null,
): Promise<Log[]> {
  const range = { fromBlock: hexOf(from), toBlock: hexOf(to) };
  const logs: unknown = await rpc.send('eth_getLogs', [{ ...range, ...filter }]);
  return checkedLogs(logs, (log) => log.blockNumber >= from && log.blockNumber <= to);
}

/** The events of all blocks above this height that the node has. This alone does not prove that the node has any of them. */
export async function readLogsAbove(rpc: RpcProvider, height: number, filter: LogFilter | null): Promise<Log[]> {
  const range = { fromBlock: hexOf(height + 1), toBlock: 'latest' };
  const logs: unknown = await rpc.send('eth_getLogs', [{ ...range, ...filter }]);
  return checkedLogs(logs, (log) => log.blockNumber > height);
}

/** Some transactions of one block. */
export type TransactionsOfBlock = { blockHash: string; transactions: readonly string[] };

/** For more transactions of one block than this, one large answer is cheaper than one receipt after the other. */
const MAX_SINGLE_RECEIPTS = 8;

/** Nodes that turned out not to offer eth_getBlockReceipts. */
const withoutBlockReceipts = new WeakSet<Asked>();

/**
 * The receipts of these transactions, by transaction hash.
 * @throws RpcError `invalid_answer` when the node does not have one of them, or shows it in a different block.
 */
export async function readReceipts(
  rpc: RpcProvider,
  wanted: readonly TransactionsOfBlock[],
): Promise<Map<string, Receipt>> {
  const isLarge = ({ transactions }: TransactionsOfBlock) =>
    transactions.length > MAX_SINGLE_RECEIPTS && !withoutBlockReceipts.has(rpc);
  const [large, small] = [wanted.filter(isLarge), wanted.filter((block) => !isLarge(block))];
  const [ofBlocks, singles] = await Promise.all([
    inBatches(large, 1, ({ blockHash }) => readReceiptsOfBlock(rpc, blockHash)),
    readSingleReceipts(rpc, small),
  ]);
  const found = await fillIn(rpc, large, [...ofBlocks.flat(), ...singles]);
  requireAll(wanted, found);
  return found;
}

/**
 * Some nodes leave system transactions, or all transactions, out of a block's receipts, but show each receipt by itself.
 * @returns the receipts shown, and of these blocks those that were left out, by transaction hash.
 */
async function fillIn(
  rpc: Asked,
  blocks: readonly TransactionsOfBlock[],
  shown: readonly Receipt[],
): Promise<Map<string, Receipt>> {
  const found = new Map(shown.map((receipt) => [receipt.transactionHash, receipt]));
  const left = blocks.map(({ blockHash, transactions }) => {
    return { blockHash, transactions: transactions.filter((hash) => !found.has(hash)) };
  });
  for (const receipt of await readSingleReceipts(rpc, left)) found.set(receipt.transactionHash, receipt);
  return found;
}

/** @throws RpcError `invalid_answer` when a receipt is missing, or is of a different block. */
function requireAll(wanted: readonly TransactionsOfBlock[], found: ReadonlyMap<string, Receipt>): void {
  for (const { blockHash, transactions } of wanted) {
    if (!transactions.every((hash) => found.get(hash)?.blockHash === blockHash))
      throw new RpcError(
        'invalid_answer',
        'the node does not have the receipt of a transaction that it has shown in a block',
      );
  }
}

/** All receipts of a block, in their order. The caller proves them. @throws RpcError `invalid_answer` when one is missing. */
export async function readWholeBlock(
  rpc: Asked,
  { number, hash }: Pick<Block, 'number' | 'hash'>,
): Promise<{ block: Block; header: unknown; receipts: Receipt[] }> {
  const isOffered = !withoutBlockReceipts.has(rpc);
  const [header, shown] = await Promise.all([
    rpc.send('eth_getBlockByNumber', [hexOf(number), false]),
    isOffered ? malformedIsFalse(rpc, readReceiptsOfBlock(rpc, hash)) : [],
  ]);
  const block = header === null ? null : parseBlock(header);
  if (block?.hash !== hash) throw new RpcError('invalid_answer', 'a log of a block outside the chain');
  const { transactions } = block;
  const wanted = [{ blockHash: hash, transactions }];
  const found = await malformedIsFalse(rpc, fillIn(rpc, wanted, shown));
  requireAll(wanted, found);
  const receipts = transactions.flatMap((transaction) => found.get(transaction) ?? []);
  return { block, header, receipts };
}

/** A receipt that cannot be one, or is of something else than was asked, is no chance of time as a missing one is. */
const malformedIsFalse = <T>(rpc: Asked, reading: Promise<T>): Promise<T> =>
  reading.catch((error: unknown) => {
    if (error instanceof RpcError && error.kind === 'invalid_answer') rpc.disproved(error.message);
    throw error;
  });

async function readSingleReceipts(rpc: Asked, wanted: readonly TransactionsOfBlock[]): Promise<Receipt[]> {
  const hashes = wanted.flatMap(({ transactions }) => transactions);
  const receipts = await inBatches(hashes, 1, (hash) => findReceipt(rpc, hash));
  return receipts.filter((receipt) => receipt !== null);
}

/**
 * @returns perhaps not all receipts; none when the node does not offer the method, or it fails for this block.
 * @throws RpcError `invalid_answer` for receipts of a different block.
 */
async function readReceiptsOfBlock(rpc: Asked, blockHash: string): Promise<Receipt[]> {
  const receipts = await findReceiptsOfBlock(rpc, blockHash);
  if (receipts.some((receipt) => receipt.blockHash !== blockHash))
    throw new RpcError('invalid_answer', 'a receipt of a different block than the one requested');
  return receipts;
}

async function findReceiptsOfBlock(rpc: Asked, blockHash: string): Promise<Receipt[]> {
  try {
    const answer: unknown = await rpc.send('eth_getBlockReceipts', [blockHash]);
    return Array.isArray(answer) ? answer.map(parseReceipt) : [];
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    // The single receipts are requested next. If the failure was not about the method, they fail, too.
    if (error.kind === 'unsupported') withoutBlockReceipts.add(rpc);
    return [];
  }
}

/** @returns null when the node does not know the transaction, or has no block with it. */
export async function findReceipt(rpc: Asked, transactionHash: string): Promise<Receipt | null> {
  const answer: unknown = await rpc.send('eth_getTransactionReceipt', [transactionHash]);
  if (answer === null) return null;
  const receipt = parseReceipt(answer);
  if (receipt.transactionHash !== transactionHash)
    throw new RpcError('invalid_answer', 'the receipt of a different transaction');
  return receipt;
}

/** @returns null when the node does not know the transaction, or does not offer transactions, only receipts. */
export async function findTransaction(rpc: Asked, transactionHash: string): Promise<TransactionAnswer | null> {
  const answer = await rpc.send('eth_getTransactionByHash', [transactionHash]).catch((error: unknown) => {
    if (error instanceof RpcError && error.kind === 'unsupported') return null;
    throw error;
  });
  if (answer === null) return null;
  const transaction = parseTransaction(answer);
  if (transaction.hash !== transactionHash) throw new RpcError('invalid_answer', 'a different transaction');
  return transaction;
}

function checkedLogs(value: unknown, belongs: (log: Log) => boolean): Log[] {
  const logs = parseLogs(value);
  if (!logs.every(belongs)) throw new RpcError('invalid_answer', 'a log of a block that was not requested');
  if (!isInOrder(logs)) {
    const places = new Set(logs.map((log) => `${log.blockHash} ${String(log.logIndex)}`));
    if (places.size < logs.length) throw new RpcError('invalid_answer', 'two logs at the same place');
  }
  return logs;
}

/** Nearly every node answers in order, so no two logs are at the same place. For 10,000 logs this takes 0.2 ms, and a set of places 12 ms. */
function isInOrder(logs: readonly Log[]): boolean {
  return logs.every((log, position) => {
    const before = logs[position - 1];
    if (before === undefined || log.blockNumber > before.blockNumber) return true;
    return log.blockNumber === before.blockNumber && log.logIndex > before.logIndex;
  });
}

const hexOf = (number: number): string => `0x${number.toString(16)}`;
