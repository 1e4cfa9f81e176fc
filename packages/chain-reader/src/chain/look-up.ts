import type { Receipt } from '../rpc/answers.ts';
import { RpcError } from '../rpc/errors.ts';
import type { RpcProvider } from '../rpc/provider.ts';
import { findReceipt, findTransaction, readBlockAt } from '../rpc/reads.ts';
import type { ChainNetwork } from './networks.ts';
import { decodeTransfer, movedTo } from './transfers.ts';

/** A transfer of the token in a transaction. Addresses are 0x and 40 lowercase hex characters, on Tron as well. */
export type SeenTransfer = {
  /** Position of the event in the receipt's full list, from 0. */
  transactionEventIndex: number;
  from: string;
  to: string;
  /** Base units of the token. */
  amountUnits: bigint;
};

/** A transaction as one node shows it. Nothing of it is proved, so it informs people and never moves money. */
export type TransactionSight =
  /** The node does not know the transaction: there is none, or the node lags or has dropped it. */
  | { kind: 'unknown' }
  /** The node knows it, but has no block with it that is still in its chain. */
  | { kind: 'pending' }
  | { kind: 'failed'; blockNumber: number; blockTimestamp: number }
  | {
      kind: 'mined';
      blockNumber: number;
      /** Unix seconds. */
      blockTimestamp: number;
      /** Of the token. */
      transfers: SeenTransfer[];
      /** Who else received something: another token, or the chain's own coin. */
      otherRecipients: string[];
    };

/** A transaction with more transfers or recipients is shown in part. */
const MAX_TRANSFERS = 500;
const MAX_OTHER_RECIPIENTS = 100;

/** Reads a transaction by its id, with two or three calls. @throws RpcError when the node contradicts itself or cannot answer. */
export async function lookUpTransaction(
  rpc: RpcProvider,
  network: Pick<ChainNetwork, 'token'>,
  transactionId: string,
): Promise<TransactionSight> {
  const hash = `0x${transactionId}`;
  const [receipt, transaction] = await Promise.all([findReceipt(rpc, hash), findTransaction(rpc, hash)]);
  if (receipt === null) return { kind: transaction === null ? 'unknown' : 'pending' };
  const block = await readBlockAt(rpc, receipt.blockNumber);
  if (block?.hash !== receipt.blockHash) return { kind: 'pending' };
  const place = { blockNumber: block.number, blockTimestamp: block.timestamp };
  if (!receipt.succeeded) return { kind: 'failed', ...place };
  const coinTo = transaction?.movesCoin === true ? transaction.to : null;
  const others = [...new Set([...otherRecipients(network.token, receipt), ...(coinTo === null ? [] : [coinTo])])];
  return {
    kind: 'mined',
    ...place,
    transfers: transfersOf(network.token, receipt).slice(0, MAX_TRANSFERS),
    otherRecipients: others.slice(0, MAX_OTHER_RECIPIENTS),
  };
}

function transfersOf(token: string, { logs }: Receipt): SeenTransfer[] {
  return logs.flatMap((log, position) => {
    const decoded = decodeTransfer(token, log);
    if (decoded === null) return [];
    const { from, to, amountUnits } = decoded;
    return [{ transactionEventIndex: position, from, to, amountUnits }];
  });
}

function otherRecipients(token: string, { logs }: Receipt): string[] {
  return logs.flatMap((log) => (log.address === token ? [] : (movedTo(log) ?? [])));
}

/**
 * The functions of Tether's contracts that say whether a wallet is frozen, as the first four bytes of their keccak256:
 * `isBlackListed(address)` on Ethereum, Tron and other older deployments, `isBlocked(address)` on newer ones such as Arbitrum and Polygon.
 */
export const blacklistQuestions = ['0xe47d6060', '0xfbac3951'] as const;

export type BlacklistQuestion = (typeof blacklistQuestions)[number];

/**
 * Asks a token whether it has frozen a wallet.
 * @param wallet 20 bytes as 0x and lowercase hex.
 * @param questions tried in turn until the contract answers one.
 * @returns the question that the contract answered, and the answer; null when it has none of these functions.
 * @throws RpcError when the node does not answer.
 */
export async function readBlacklisted(
  rpc: RpcProvider,
  { token }: { token: string },
  wallet: string,
  questions: readonly BlacklistQuestion[] = blacklistQuestions,
): Promise<{ question: BlacklistQuestion; isBlacklisted: boolean } | null> {
  for (const question of questions) {
    const data = `${question}${wallet.slice(2).padStart(64, '0')}`;
    const answer = await rpc.send('eth_call', [{ to: token, data }, 'latest']).catch(orNothing);
    const word = /^0x0{63}([01])$/.exec(String(answer))?.[1];
    if (word !== undefined) return { question, isBlacklisted: word === '1' };
  }
  return null;
}

/** A contract without the function reverts, and every node reports that in other words. @throws any other error. */
function orNothing(error: unknown): null {
  if (error instanceof RpcError && error.kind === 'unknown' && error.isAnswer) return null;
  throw error;
}
