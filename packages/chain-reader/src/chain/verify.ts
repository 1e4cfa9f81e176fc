import type { Block, Receipt } from '../rpc/answers.ts';
import { RpcError } from '../rpc/errors.ts';
import { MAX_BATCH_REQUESTS } from '../rpc/provider.ts';
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
  type Heights,
} from './finality.ts';
import type { ChainNetwork } from './networks.ts';
import { requireLinked } from './read-blocks.ts';
import { decodeTransfer, locateTransfer, type Transfer } from './transfers.ts';

/** Names one event: the transaction (64 lowercase hex characters, no 0x) and its position in the receipt's full list, from 0. */
export type EventId = { transactionId: string; transactionEventIndex: number };

/** Why a node shows no transfer of the token there. */
type Absence =
  /** It knows no receipt of the transaction: it was never mined, is mined no more, or this node lags. */
  | 'no_receipt'
  /** Its receipt is of a block that is not, or no longer, in its chain. */
  | 'orphaned'
  /** The transaction failed, so nothing was moved, whatever its events show. */
  | 'failed'
  /** The receipt has no event at this position. */
  | 'no_event'
  /** The event at this position is no transfer of the token, such as one of a look-alike contract. */
  | 'no_transfer';

/** What one node shows of a transfer now. */
export type Evidence =
  /** `head`: height of the last block that the node has. */
  | { kind: 'absent'; reason: Absence; head: number }
  /** It is in the node's chain. `isFinal`: deep enough to be confirmed under the network's policy. */
  | { kind: 'present'; transfer: Transfer; confirmations: number; isFinal: boolean };

/**
 * Reads a transfer from one node's chain, without anything that we have stored. As strict as the scan: the same decoding, the same
 * finality, and confirmations counted only over blocks that are linked to the transfer's own.
 * @param hasNamedFinal as in finalityClaim().
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
  if (block === null) throw new RpcError('unknown_block', 'the node lacks the block of a receipt that it has shown');
  if (block.hash !== receipt.blockHash) return absent('orphaned');
  const transfer = transferAt(network, receipt, event.transactionEventIndex, block);
  if (typeof transfer === 'string') return absent(transfer);
  // Without its word, nothing is final to this node.
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
 * As gatherEvidence(), for several events in one reading: the head, the final block and the blocks above are asked for once.
 * @returns in the order of the events; the error where the node contradicts itself about this one.
 * @throws RpcError when it gives evidence of none.
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

/** Whether no other node can know better: one that lags neither has a new receipt nor calls a new block final. */
export function isConclusive(evidence: Evidence): boolean {
  if (evidence.kind === 'present') return evidence.isFinal;
  return evidence.reason !== 'no_receipt' && evidence.reason !== 'orphaned';
}

/** Whether as many nodes show this transfer at its place, and call it final, as the network asks for with its amount. */
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
 * Whether two nodes cannot both be right. One that lags does not know a transaction yet; one that has the transfer's height and still
 * lacks it, or knows it in a block that it no longer has, follows another chain.
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

/** Whether two readings of one event show the same. Its time counts as well: it decides whose payment window the transfer lies in. */
export function isSameTransfer(a: Transfer, b: Transfer): boolean {
  const isSameMoney = a.from === b.from && a.to === b.to && a.amountUnits === b.amountUnits;
  return isSameMoney && a.blockHash === b.blockHash && a.blockTimestamp === b.blockTimestamp;
}

/** @throws RpcError `invalid_answer` when the event claims another place than its receipt. */
function transferAt(network: ChainNetwork, receipt: Receipt, position: number, block: Block): Transfer | Absence {
  if (!receipt.succeeded) return 'failed';
  const log = receipt.logs[position];
  if (log === undefined) return 'no_event';
  if (log.transactionHash !== receipt.transactionHash || log.blockNumber !== receipt.blockNumber)
    throw new RpcError('invalid_answer', 'an event of another transaction than its receipt');
  const decoded = decodeTransfer(network.token, log);
  if (decoded === null) return 'no_transfer';
  const transfer = locateTransfer(decoded, receipt, block.timestamp);
  if (transfer?.transactionEventIndex !== position)
    throw new RpcError('invalid_answer', 'a receipt with two events of one place');
  return transfer;
}

/**
 * A block that the chain itself calls final needs no proof of what lies above it. For any other one the head that a node claims proves
 * nothing, so the blocks above are read, up to the number of confirmations, and the last one linked to it is the tip.
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
