import { TransferObserved } from '@quittance/contracts/messages/transfer-observed.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { observationId, toTransferObserved } from '../observed.ts';
import type { TransferRow } from '../store/transfers.ts';
import type { ScanContext } from './session.ts';
import { traceTransfers } from './trace-transfers.ts';

/** Writes what these rows say into the outbox, in their order, in the transaction that made it true. */
export async function publishTransfers(
  tx: Transaction,
  { network, outbox }: ScanContext,
  rows: readonly TransferRow[],
  confirmingTip: number,
): Promise<void> {
  const spans = await traceTransfers(tx, network, rows);
  const said = rows.map((row, index) => ({
    payload: toTransferObserved(network, row, confirmingTip),
    messageId: observationId(network.id, row),
    traceparent: spans[index]?.traceparent,
  }));
  await outbox.sendAll(tx, TransferObserved, said);
}

/** Counts what was published and says it in the log. Call it after the commit. */
export function recordTransfers({ network, metrics, logger }: ScanContext, rows: readonly TransferRow[]): void {
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
