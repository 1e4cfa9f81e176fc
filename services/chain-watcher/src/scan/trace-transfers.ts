import { toTokenUnits } from '@quittance/contracts/amount.ts';
import type { Network } from '@quittance/contracts/networks.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { goingOnFrom, type Span, tracer } from '@quittance/runtime/tracing/tracing.ts';
import { readTraces } from '../store/traced-payments.ts';
import type { TransferRow } from '../store/transfers.ts';

/**
 * Goes on with the traces of the payments that these transfers may pay: one span for each observation, from here to the commit. The
 * scan itself has none, because it looks at a chain and not at a payment.
 * @returns the span of each row, where it has one; nothing where nothing is traced.
 */
export async function traceTransfers(
  tx: Transaction,
  network: Pick<Network, 'id' | 'decimals'>,
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
      origin: goingOnFrom(payment.traceparent, payment.heardAt),
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
