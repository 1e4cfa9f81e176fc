import { parseBlock, parseLogs, parseReceipt, quantity, type Block, type Log, type Receipt } from './answers.ts';
import { RpcError } from './errors.ts';
import type { RpcProvider } from './provider.ts';

/** Which events to ask for; topics as in eth_getLogs, null for "any". */
export type LogFilter = { address: string; topics: (string | string[] | null)[] };

// Reads started together (Promise.all) leave as one batch, so they are answered by the same node at the same moment.

export async function readChainId(rpc: RpcProvider): Promise<number> {
  return quantity(await rpc.send('eth_chainId', []), 'chain id');
}

export async function readHead(rpc: RpcProvider): Promise<Block> {
  return parseBlock(await rpc.send('eth_getBlockByNumber', ['latest', false]));
}

/** @returns the last block the chain itself calls final, or null when the node knows no such tag. */
export async function readFinalized(rpc: RpcProvider): Promise<Block | null> {
  try {
    const block: unknown = await rpc.send('eth_getBlockByNumber', ['finalized', false]);
    return block === null ? null : parseBlock(block);
  } catch (error) {
    if (error instanceof RpcError && (error.kind === 'unsupported' || error.kind === 'unknown_block')) return null;
    throw error;
  }
}

/** @returns the node's block at this height, or null when its chain is shorter. */
export async function readBlockAt(rpc: RpcProvider, number: number): Promise<Block | null> {
  const answer: unknown = await rpc.send('eth_getBlockByNumber', [`0x${number.toString(16)}`, false]);
  if (answer === null) return null;
  const block = parseBlock(answer);
  if (block.number !== number) throw new RpcError('invalid_answer', 'another block than the one asked for');
  return block;
}

/** @returns the node's blocks at these heights, in that order. */
export function readBlocksAt(rpc: RpcProvider, numbers: readonly number[]): Promise<(Block | null)[]> {
  return Promise.all(numbers.map((number) => readBlockAt(rpc, number)));
}

/**
 * The events of one block, asked for by hash, together with proof that the node has that block: a node that has not would
 * answer an empty list.
 * @throws RpcError `unknown_block` when it does not have it.
 */
export async function readLogsOfBlock(rpc: RpcProvider, hash: string, filter: LogFilter | null): Promise<Log[]> {
  const [block, logs] = await Promise.all([
    rpc.send('eth_getBlockByHash', [hash, false]) as Promise<unknown>,
    rpc.send('eth_getLogs', [{ blockHash: hash, ...filter }]) as Promise<unknown>,
  ]);
  if (block === null) throw new RpcError('unknown_block', 'the node does not have the block whose logs were asked for');
  if (parseBlock(block).hash !== hash) throw new RpcError('invalid_answer', 'another block than the one asked for');
  return checkedLogs(logs, (log) => log.blockHash === hash);
}

/** The events of the blocks `from` to `to`, both included. Proves nothing by itself about the node's knowing those blocks. */
export async function readLogsOfRange(rpc: RpcProvider, from: number, to: number, filter: LogFilter): Promise<Log[]> {
  const range = { fromBlock: `0x${from.toString(16)}`, toBlock: `0x${to.toString(16)}` };
  const logs: unknown = await rpc.send('eth_getLogs', [{ ...range, ...filter }]);
  return checkedLogs(logs, (log) => log.blockNumber >= from && log.blockNumber <= to);
}

/** @throws RpcError `invalid_answer` when the node lacks the receipt of a transaction whose log it has shown. */
export async function readReceipt(rpc: RpcProvider, transactionHash: string): Promise<Receipt> {
  const receipt = await findReceipt(rpc, transactionHash);
  if (receipt === null) throw new RpcError('invalid_answer', 'the node lacks the receipt of a log that it has shown');
  return receipt;
}

/** @returns null when the node knows no such transaction, or knows it in no block. */
export async function findReceipt(rpc: RpcProvider, transactionHash: string): Promise<Receipt | null> {
  const answer: unknown = await rpc.send('eth_getTransactionReceipt', [transactionHash]);
  if (answer === null) return null;
  const receipt = parseReceipt(answer);
  if (receipt.transactionHash !== transactionHash)
    throw new RpcError('invalid_answer', 'the receipt of another transaction');
  return receipt;
}

function checkedLogs(value: unknown, belongs: (log: Log) => boolean): Log[] {
  const logs = parseLogs(value);
  if (!logs.every(belongs)) throw new RpcError('invalid_answer', 'a log of a block that was not asked for');
  return logs;
}
