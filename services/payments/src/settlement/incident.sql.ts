import type { PaymentIncident } from '@quittance/contracts/http/incidents.ts';
import { incidentTable } from '@quittance/postgres/incidents.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { WithDates } from '@quittance/runtime/time.ts';
import type { PaymentRow } from '../payment/payment.sql.ts';
import type { TransferRow } from './transfer.sql.ts';

type IncidentRow = WithDates<PaymentIncident, 'opened_at' | 'resolved_at'>;

export const incidents = incidentTable<IncidentRow>(
  `incident_id, kind, payment_id, merchant_id, network, transaction_id, transaction_event_index, block_hash, opened_at,
   resolved_at, resolved_by, resolved_reason`,
);

/** Records that the transfer of a paid payment is gone from the chain, for a person to judge. */
export async function openIncident(tx: Transaction, payment: PaymentRow, transfer: TransferRow): Promise<void> {
  await tx.query(
    `insert into incident (kind, payment_id, merchant_id, network, transaction_id, transaction_event_index, block_hash, opened_at)
     values ('paid_transfer_gone', $1, $2, $3, $4, $5, $6, clock_timestamp())`,
    [
      payment.payment_id,
      payment.merchant_id,
      transfer.network,
      transfer.transaction_id,
      transfer.transaction_event_index,
      transfer.block_hash,
    ],
  );
}

export async function countOpenIncidents(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ open: bigint }>('select count(*) as open from incident where resolved_at is null');
  return Number(rows[0]?.open ?? 0);
}
