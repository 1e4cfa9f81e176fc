import { hash } from 'node:crypto';
import { confirmationsOf, finalHeightOf, type FinalHeights } from '@quittance/chain-reader/chain/finality.ts';
import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import type { Transfer } from '@quittance/chain-reader/chain/transfers.ts';
import { addressFromHex } from '@quittance/contracts/address.ts';
import { toTokenUnits } from '@quittance/contracts/amount.ts';
import { TransferObserved } from '@quittance/contracts/messages.ts';
import type { Network } from '@quittance/contracts/networks.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { spanOrigin, tracer, type Span } from '@quittance/runtime/tracing/tracing.ts';
import type { NetworkContext } from '../leadership/term.ts';
import { readTraces } from '../watches/payment.sql.ts';
import { insertProofs } from './proof.sql.ts';
import { confirmTransfers, insertTransfers, oldestFirst, type TransferRow } from './transfer.sql.ts';

/**
 * Stores transfers, confirms those that are final now, and publishes both.
 * @param options.confirmed the transfers that this transaction has already confirmed; absent when that is still to do.
 * @param options.isLive whether the network was read without a gap up to this block.
 * @returns the new transfers, as they were seen, and all published ones.
 */
export async function storeTransfers(
  tx: Transaction,
  context: NetworkContext,
  transfers: readonly Transfer[],
  heights: FinalHeights & { confirmingTip: number },
  options: { confirmed?: readonly TransferRow[]; isLive?: (blockNumber: number) => boolean } = {},
): Promise<{ inserted: TransferRow[]; published: TransferRow[] }> {
  const { network } = context;
  // While we catch up, every transfer is final when it is seen. It is written once, and still published twice.
  const rows = await insertTransfers(tx, network, transfers, {
    isConfirmed: (transfer) => isConfirmable(network, heights, transfer),
    isLive: ({ blockNumber }) => options.isLive?.(blockNumber) ?? false,
  });
  const isNew = new Set(rows.map((row) => `${row.transaction_id} ${row.block_hash}`));
  const read = transfers.filter((one) => isNew.has(`${one.transactionId} ${one.blockHash.slice(2)}`));
  await insertProofs(tx, network.id, read);
  const inserted = rows.map(asSeen);
  const confirmed = rows.filter(({ phase }) => phase === 'confirmed');
  confirmed.push(...(options.confirmed ?? (await confirmTransfers(tx, network, heights))));
  const published = [...inserted, ...confirmed.sort(oldestFirst)];
  await publishTransfers(tx, context, published, heights.confirmingTip);
  return { inserted, published };
}

/** As confirmTransfers() decides. */
function isConfirmable(
  network: Pick<ChainNetwork, 'finalizedAbove' | 'crossCheckedAbove'>,
  heights: FinalHeights,
  { blockNumber, amountUnits }: Transfer,
): boolean {
  const isCrossChecked = network.crossCheckedAbove !== null && amountUnits > network.crossCheckedAbove;
  return !isCrossChecked && blockNumber <= finalHeightOf(network, heights, amountUnits);
}

/** The earlier observation of a transfer that was confirmed by the same statement. */
const asSeen = (row: TransferRow): TransferRow =>
  row.phase === 'confirmed' ? { ...row, phase: 'seen', version: row.version - 1 } : row;

/** Writes messages about these rows into the outbox, in this order, in the transaction that changed the rows. */
export async function publishTransfers(
  tx: Transaction,
  { network, outbox }: NetworkContext,
  rows: readonly TransferRow[],
  confirmingTip: number,
): Promise<void> {
  const spans = await continueTraces(tx, network, rows);
  const spell = createSpelling(network.family);
  const messages = rows.map((row, index) => ({
    payload: toTransferObserved(network, row, confirmingTip, spell),
    messageId: messageIdOf(network.id, row),
    traceparent: spans[index]?.traceparent,
  }));
  await outbox.sendAll(tx, TransferObserved, messages);
}

/** Counts and logs published transfers. Call it after the commit. */
export function recordTransfers({ network, metrics, logger }: NetworkContext, rows: readonly TransferRow[]): void {
  for (const row of rows) {
    metrics.transfers.inc({ network: network.id, phase: row.phase });
    logger.info(
      {
        network: network.id,
        transaction_id: row.transaction_id,
        transaction_event_index: row.transaction_event_index,
        block_number: Number(row.block_number),
        phase: row.phase,
      },
      'transfer observed',
    );
  }
}

/**
 * Continues the traces of the payments that these transfers may pay: one span for each observation, from here to the commit. The
 * scan itself has no trace, because it follows a chain and not a payment.
 * @returns the span of each row that has one; empty when nothing is traced.
 */
async function continueTraces(
  tx: Transaction,
  network: NetworkContext['network'],
  rows: readonly TransferRow[],
): Promise<readonly (Span | undefined)[]> {
  const tracing = tracer();
  if (tracing === null || rows.length === 0) return [];
  const traced = await readTraces(tx, network.id, [...new Set(rows.map(({ recipient }) => recipient))]);
  const bySlot = new Map(
    traced.map((payment) => [slot(payment.recipient, toTokenUnits(payment.amountUnits, network.decimals)), payment]),
  );
  const spans = rows.map((row) => {
    const payment = bySlot.get(slot(row.recipient, BigInt(row.amount_units)));
    if (payment === undefined) return undefined;
    return tracing.start(`observe transfer ${row.phase}`, 'internal', {
      origin: spanOrigin(payment.traceparent, payment.receivedAt),
      attributes: {
        'quittance.network': network.id,
        'quittance.transaction_id': row.transaction_id,
        'quittance.block_number': Number(row.block_number),
        'quittance.transfer_phase': row.phase,
      },
    });
  });
  tx.afterCommit(() => spans.forEach((span) => span?.end()));
  return spans;
}

const slot = (recipient: string, tokenUnits: bigint): string => `${recipient} ${tokenUnits}`;

/**
 * The message about a stored transfer.
 * @param confirmingTip height from which confirmations are counted; see finality.ts.
 * @param spell writes an address (20-byte hex with 0x) in the network's canonical form.
 */
export function toTransferObserved(
  network: Pick<Network, 'id' | 'family' | 'decimals' | 'confirmations'>,
  row: TransferRow,
  confirmingTip: number,
  spell: (hex: string) => string = (hex) => addressFromHex(network.family, hex),
): TransferObserved {
  const blockNumber = Number(row.block_number);
  return {
    merchant_id: row.merchant_id,
    network: network.id,
    transaction_id: row.transaction_id,
    transaction_event_index: row.transaction_event_index,
    block_number: blockNumber,
    block_hash: `0x${row.block_hash}`,
    block_timestamp: rfc3339(row.block_timestamp),
    from: spell(`0x${row.sender}`),
    to: spell(`0x${row.recipient}`),
    amount_units: row.amount_units,
    decimals: network.decimals,
    phase: row.phase,
    version: row.version,
    confirmations: countOf(row, network.confirmations, confirmingTip),
    confirmations_required: network.confirmations,
    first_seen_at: rfc3339(row.first_seen_at),
    live: row.live,
  };
}

/**
 * A confirmed transfer had enough confirmations when it was confirmed, by the head that was known then. Counted from the tip alone, as after
 * a restart, it may have fewer.
 */
function countOf({ phase, block_number: block }: TransferRow, required: number, confirmingTip: number): number {
  if (phase === 'retracted') return 0;
  return Math.max(confirmationsOf(Number(block), confirmingTip), phase === 'confirmed' ? required : 0);
}

/** Caches addresses across many messages: a checksum takes longer than everything else in a message. */
function createSpelling(family: Network['family']): (hex: string) => string {
  const known = new Map<string, string>();
  return (hex) => {
    const spelled = known.get(hex) ?? addressFromHex(family, hex);
    known.set(hex, spelled);
    return spelled;
  };
}

/**
 * The same observation always has the same id, so that a consumer's inbox drops repetitions. The version is part of the id because a
 * block may be orphaned and come back: the second observation is new.
 * @returns a UUID of version 8 (RFC 9562), whose bits we may choose.
 */
export function messageIdOf(network: string, row: TransferRow): string {
  const parts = [network, row.transaction_id, row.transaction_event_index, row.block_hash, row.phase, row.version];
  const hex = hash('sha256', parts.join('|'), 'hex');
  const variant = '89ab'[Number.parseInt(hex.charAt(16), 16) & 3] ?? '8';
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
