import type { FinalHeights } from '@quittance/chain-reader/chain/finality.ts';
import type { Transfer } from '@quittance/chain-reader/chain/transfers.ts';
import { toTokenUnits } from '@quittance/contracts/amount.ts';
import { TransferObserved } from '@quittance/contracts/messages/transfer-observed.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { spanOrigin, type Span, tracer } from '@quittance/runtime/tracing/tracing.ts';
import { readTraces } from '../store/traced-payments.ts';
import { confirmTransfers, insertTransfers, type TransferRow } from '../store/transfers.ts';
import type { NetworkContext } from '../term/term.ts';
import { messageIdOf, toTransferObserved } from './message.ts';

/**
 * Stores transfers, confirms what is final by now, and publishes both.
 * @returns the transfers that are new, and all that were published.
 */
export async function storeTransfers(
  tx: Transaction,
  context: NetworkContext,
  transfers: readonly Transfer[],
  heights: FinalHeights & { confirmingTip: number },
): Promise<{ inserted: TransferRow[]; published: TransferRow[] }> {
  const inserted = await insertTransfers(tx, context.network.id, transfers);
  const published = [...inserted, ...(await confirmTransfers(tx, context.network, heights))];
  await publishTransfers(tx, context, published, heights.confirmingTip);
  return { inserted, published };
}

/** Writes these rows into the outbox, in their order, in the transaction that made them true. */
export async function publishTransfers(
  tx: Transaction,
  { network, outbox }: NetworkContext,
  rows: readonly TransferRow[],
  confirmingTip: number,
): Promise<void> {
  const spans = await continueTraces(tx, network, rows);
  const messages = rows.map((row, index) => ({
    payload: toTransferObserved(network, row, confirmingTip),
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
