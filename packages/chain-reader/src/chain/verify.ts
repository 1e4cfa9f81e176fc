import { readProvenBlock } from './proven-block.ts';
import type { Block, Receipt } from '../rpc/answers.ts';
import { RpcError } from '../rpc/errors.ts';
import { MAX_BATCH_REQUESTS, type RpcProvider } from '../rpc/provider.ts';
import {
  askingOnce,
  findReceipt,
  readBlockAt,
  readBlocksAt,
  readFinalized,
  readHead,
  type Asked,
} from '../rpc/reads.ts';
import {
  confirmationsOf,
  confirmingTip,
  finalHeightOf,
  finalHeights,
  finalityClaim,
  type FinalHeights,
  type Heights,
} from './finality.ts';
import type { ChainNetwork } from './networks.ts';
import { requireLinked } from './read-blocks.ts';
import { decodeTransfer, locateTransfer, type Transfer } from './transfers.ts';

/** Identifies an event: its transaction (64 lowercase hex characters, no 0x) and its position in the receipt's full list, from 0. */
export type EventId = { transactionId: string; transactionEventIndex: number };

/** Why a node shows no transfer of the token there. */
type Absence =
  /** It has no receipt of the transaction: it was never mined, is no longer mined, or this node lags. */
  | 'no_receipt'
  /** The receipt's block is not (or no longer) in the node's chain. */
  | 'orphaned'
  /** The transaction failed, so nothing was moved, even if it has events. */
  | 'failed'
  /** The receipt has no event at this position. */
  | 'no_event'
  /** The event at this position is not a transfer of the token, for example one of a look-alike contract. */
  | 'no_transfer';

/** A transfer as one node shows it now. */
export type Evidence =
  /** `head`: height of the node's newest block. */
  | { kind: 'absent'; reason: Absence; head: number }
  /** It is in the node's chain. `isFinal`: deep enough to be confirmed under the network's policy. */
  | { kind: 'present'; transfer: Transfer; confirmations: number; isFinal: boolean };

/**
 * Reads a transfer from one node's chain, independently of what is stored. It is as strict as the scan: the same decoding, the same finality,
 * and only blocks that are linked to the transfer's own count as confirmations.
 * @param hasNamedFinal see finalityClaim().
 * @throws RpcError when the node contradicts itself or cannot answer.
 */
export async function gatherEvidence(
  rpc: Asked,
  network: ChainNetwork,
  event: EventId,
  hasNamedFinal: boolean,
): Promise<Evidence> {
  const [receipt, head] = await Promise.all([findReceipt(rpc, `0x${event.transactionId}`), readHead(rpc)]);
  const absent = (reason: Absence): Evidence => ({ kind: 'absent', reason, head: head.number });
  if (receipt === null) return absent('no_receipt');
  const [tagged, block] = await Promise.all([readFinalized(rpc), readBlockAt(rpc, receipt.blockNumber)]);
  if (block === null)
    throw new RpcError('unknown_block', 'the node does not have the block of a receipt that it has shown');
  if (block.hash !== receipt.blockHash) return absent('orphaned');
  const shown = network.isProven ? await provenReceipt(rpc, block, receipt.transactionHash) : receipt;
  const transfer = transferAt(network, shown, event.transactionEventIndex, block);
  if (typeof transfer === 'string') return absent(transfer);
  // If the node does not say what is final, nothing is.
  const finalized = finalityClaim(network, head.number, tagged, hasNamedFinal)?.height ?? -1;
  const heights = await heightsAbove(rpc, network, block, { head: head.number, finalized });
  return {
    kind: 'present',
    transfer,
    confirmations: confirmationsOf(block.number, confirmingTip(heights)),
    isFinal: block.number <= finalHeightOf(network, finalHeights(network, heights), transfer.amountUnits),
  };
}

/**
 * As gatherEvidence(), for several events in one reading: the head, the final block and the blocks above are requested only once.
 * @returns the evidence in the order of the events; an error for an event about which the node contradicts itself.
 * @throws RpcError when there is no evidence about any event.
 */
export async function gatherEvidenceOfAll(
  rpc: Asked,
  network: ChainNetwork,
  events: readonly EventId[],
  hasNamedFinal: boolean,
): Promise<(Evidence | RpcError)[]> {
  const once = askingOnce(rpc);
  const gathered = await Promise.all(
    events.map((event) =>
      gatherEvidence(once, network, event, hasNamedFinal).catch((error: unknown) => {
        if (error instanceof RpcError) return error;
        throw error;
      }),
    ),
  );
  const [first] = gathered;
  if (first instanceof RpcError && gathered.every((each) => each instanceof RpcError)) throw first;
  return gathered;
}

/** A block whose content is proved by its hash, as an endpoint sees it that did not show it. */
export type BlockOpinion =
  /** The endpoint does not have a block of this height yet. */
  | { kind: 'behind' }
  /** The endpoint has another block there, or other transactions in it. */
  | { kind: 'differs'; reason: string }
  /** `finalFor`: whether a transfer of this many base units in it is final under the network's policy; never if that was not asked. */
  | { kind: 'agrees'; finalFor: (amountUnits: bigint) => boolean };

/** Transactions of a block, by their index in it. Receipts do not contain the ids of their transactions, but blocks list them. */
export type ShownBlock = { number: number; hash: string; transactions: ReadonlyMap<number, string> };

/**
 * Asks an endpoint whether these blocks are in its chain, with one call for each. As their hashes prove what they contain, nothing else is
 * needed.
 * @param asksFinality whether to ask how deep they are, too.
 * @throws RpcError when the node contradicts itself or cannot answer.
 */
export async function opinionsOf(
  rpc: RpcProvider,
  network: ChainNetwork,
  blocks: readonly ShownBlock[],
  { hasNamedFinal, asksFinality }: { hasNamedFinal: boolean; asksFinality: boolean },
): Promise<BlockOpinion[]> {
  const [final, shown] = await Promise.all([
    asksFinality ? readFinalHeights(rpc, network, hasNamedFinal) : null,
    readBlocksAt(
      rpc,
      blocks.map(({ number }) => number),
    ),
  ]);
  return blocks.map(({ number, hash, transactions }, at): BlockOpinion => {
    const theirs = shown[at] ?? null;
    if (theirs === null) return { kind: 'behind' };
    if (theirs.hash !== hash) return { kind: 'differs', reason: `block ${theirs.hash}` };
    const renamed = [...transactions].find(([index, id]) => theirs.transactions[index] !== id);
    if (renamed !== undefined)
      return { kind: 'differs', reason: `transaction ${String(theirs.transactions[renamed[0]])}` };
    const isFinal = (amountUnits: bigint) => final !== null && number <= finalHeightOf(network, final, amountUnits);
    return { kind: 'agrees', finalFor: isFinal };
  });
}

async function readFinalHeights(
  rpc: RpcProvider,
  network: ChainNetwork,
  hasNamedFinal: boolean,
): Promise<FinalHeights> {
  const [head, tagged] = await Promise.all([readHead(rpc), readFinalized(rpc)]);
  const finalized = finalityClaim(network, head.number, tagged, hasNamedFinal)?.height ?? -1;
  return finalHeights(network, { tip: head.number, head: head.number, finalized });
}

/** Whether no other node can have better evidence. A node that lags may not have a new receipt, or not call a new block final. */
export function isConclusive(evidence: Evidence): boolean {
  if (evidence.kind === 'present') return evidence.isFinal;
  return evidence.reason !== 'no_receipt' && evidence.reason !== 'orphaned';
}

/** Whether as many nodes show this transfer as final, at the same place, as the network requires for its amount. */
export function isAgreed(
  { agreementAbove }: Pick<ChainNetwork, 'agreementAbove'>,
  answers: readonly Evidence[],
): boolean {
  const final = answers.filter((evidence) => evidence.kind === 'present').filter(({ isFinal }) => isFinal);
  const [first] = final;
  if (first === undefined) return false;
  const needed = agreementAbove !== null && first.transfer.amountUnits > agreementAbove ? 2 : 1;
  return final.filter(({ transfer }) => isSameTransfer(transfer, first.transfer)).length >= needed;
}

/**
 * Whether two nodes cannot both be right. A node that lags does not know a transaction yet. But a node that has the transfer's block height and
 * not the transfer, or knows it in a block that it no longer has, follows another chain.
 */
export function contradicts(answers: readonly Evidence[]): boolean {
  const present = answers.filter((evidence) => evidence.kind === 'present');
  const [first] = present;
  if (first === undefined) return false;
  const isOther = (evidence: Evidence) =>
    evidence.kind === 'present'
      ? !isSameTransfer(evidence.transfer, first.transfer)
      : evidence.reason !== 'no_receipt' || evidence.head >= first.transfer.blockNumber;
  return answers.some(isOther);
}

/** Whether two readings of an event are the same. The time counts, too: it decides which payment's window the transfer is in. */
export function isSameTransfer(a: Transfer, b: Transfer): boolean {
  const isSameMoney = a.from === b.from && a.to === b.to && a.amountUnits === b.amountUnits;
  return isSameMoney && a.blockHash === b.blockHash && a.blockTimestamp === b.blockTimestamp;
}

async function provenReceipt(rpc: Asked, block: Block, transactionHash: string): Promise<Receipt> {
  const { receipts } = await readProvenBlock(rpc, block);
  const receipt = receipts.find((one) => one.transactionHash === transactionHash);
  if (receipt === undefined)
    throw rpc.disproved(`block ${String(block.number)} does not contain a receipt shown of it`);
  return receipt;
}

/** @throws RpcError `invalid_answer` when the event and its receipt name different places. */
function transferAt(network: ChainNetwork, receipt: Receipt, position: number, block: Block): Transfer | Absence {
  if (!receipt.succeeded) return 'failed';
  const log = receipt.logs[position];
  if (log === undefined) return 'no_event';
  if (log.transactionHash !== receipt.transactionHash || log.blockNumber !== receipt.blockNumber)
    throw new RpcError('invalid_answer', 'an event of a different transaction than its receipt');
  const decoded = decodeTransfer(network.token, log);
  if (decoded === null) return 'no_transfer';
  const transfer = locateTransfer(decoded, receipt, block.timestamp);
  if (transfer?.transactionEventIndex !== position)
    throw new RpcError('invalid_answer', 'a receipt with two events at the same place');
  return transfer;
}

/**
 * A final block needs no proof of the blocks above it. For any other block, the head that a node claims proves nothing. So the blocks above
 * are read, up to the number of confirmations, and the last one that is linked to it is the tip.
 */
async function heightsAbove(
  rpc: Asked,
  { confirmations, finality }: ChainNetwork,
  block: Block,
  { head, finalized }: Pick<Heights, 'head' | 'finalized'>,
): Promise<Heights> {
  const needsProof = block.number > finalized && finality === 'confirmations';
  if (!needsProof) return { tip: Math.max(head, block.number), head, finalized };
  const enough = Math.min(head, block.number + confirmations - 1);
  let last = block;
  while (last.number < enough) {
    const count = Math.min(enough - last.number, MAX_BATCH_REQUESTS);
    const numbers = Array.from({ length: count }, (_, offset) => last.number + 1 + offset);
    last = requireLinked([last, ...(await readBlocksAt(rpc, numbers))]).at(-1) ?? last;
  }
  return { tip: last.number, head, finalized };
}
