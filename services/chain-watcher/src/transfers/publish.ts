import { finalHeightOf, type FinalHeights } from '@quittance/chain-reader/chain/finality.ts';
import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import type { Transfer } from '@quittance/chain-reader/chain/transfers.ts';
import { toTokenUnits } from '@quittance/contracts/amount.ts';
import { TransferObserved } from '@quittance/contracts/messages/transfer-observed.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { spanOrigin, type Span, tracer } from '@quittance/runtime/tracing/tracing.ts';
import { readTraces } from '../store/traced-payments.ts';
import { confirmTransfers, insertTransfers, oldestFirst, type TransferRow } from '../store/transfers.ts';
import type { NetworkContext } from '../term/term.ts';
import { createSpelling, messageIdOf, toTransferObserved } from './message.ts';

/**
 * Stores transfers, confirms what is final by now, and publishes both.
 * @param options.confirmed what this transaction has confirmed already; absent where that is still to do.
 * @param options.isLive whether the network was read without a gap up to this block.
 * @returns the transfers that are new, as they were seen, and all that were published.
 */
export async function storeTransfers(
  tx: Transaction,
  context: NetworkContext,
  transfers: readonly Transfer[],
  heights: FinalHeights & { confirmingTip: number },
  options: { confirmed?: readonly TransferRow[]; isLive?: (blockNumber: number) => boolean } = {},
): Promise<{ inserted: TransferRow[]; published: TransferRow[] }> {
  const { network } = context;
  // While we catch up everything is final: it is written once, and told of twice all the same.
  const rows = await insertTransfers(tx, network.id, transfers, {
    isConfirmed: (transfer) => isConfirmable(network, heights, transfer),
    isLive: ({ blockNumber }) => options.isLive?.(blockNumber) ?? false,
  });
  const inserted = rows.map(asSeen);
  const confirmed = rows.filter(({ phase }) => phase === 'confirmed');
  confirmed.push(...(options.confirmed ?? (await confirmTransfers(tx, network, heights))));
  const published = [...inserted, ...confirmed.sort(oldestFirst)];
  await publishTransfers(tx, context, published, heights.confirmingTip);
  return { inserted, published };
}

/** As confirmTransfers() decides. */
function isConfirmable(
  network: Pick<ChainNetwork, 'finalizedAbove' | 'agreementAbove'>,
  heights: FinalHeights,
  { blockNumber, amountUnits }: Transfer,
): boolean {
  const needsAgreement = network.agreementAbove !== null && amountUnits > network.agreementAbove;
  return !needsAgreement && blockNumber <= finalHeightOf(network, heights, amountUnits);
}

/** The observation before the one that confirmed it in the same statement. */
const asSeen = (row: TransferRow): TransferRow =>
  row.phase === 'confirmed' ? { ...row, phase: 'seen', version: row.version - 1 } : row;

/** Writes these rows into the outbox, in their order, in the transaction that made them true. */
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

/** Counts and logs what was published. Call it after the commit. */
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
 * scan itself has none, because it follows a chain and not a payment.
 * @returns the span of each row that has one; empty where nothing is traced.
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
