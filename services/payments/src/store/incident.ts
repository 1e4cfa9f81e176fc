import type { Author } from '@quittance/contracts/author.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { PaymentRow } from './payment.ts';
import type { TransferRow } from './transfer.ts';

/** Something that only a person can decide. The last three are null while the incident is open. */
export type IncidentRow = {
  incident_id: string;
  kind: 'paid_transfer_gone';
  payment_id: string;
  merchant_id: string;
  network: string;
  transaction_id: string;
  transaction_event_index: number;
  block_hash: string;
  opened_at: Date;
  resolved_at: Date | null;
  resolved_by: string | null;
  resolved_reason: string | null;
};

const incidentColumns = `incident_id, kind, payment_id, merchant_id, network, transaction_id, transaction_event_index, block_hash,
  opened_at, resolved_at, resolved_by, resolved_reason`;

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

/**
 * @param list.before the last incident of the page before, or null for the first page.
 * @returns at most `limit`, newest first; none after an incident that does not exist.
 */
export async function readIncidents(
  db: Queryable,
  list: { status: 'open' | 'all'; before: string | null; limit: number },
): Promise<IncidentRow[]> {
  const { rows } = await db.query<IncidentRow>(
    `select ${incidentColumns} from incident
      where ${list.status === 'open' ? 'resolved_at is null' : 'true'}
        and ($1::uuid is null or (opened_at, incident_id) < (select opened_at, incident_id from incident where incident_id = $1))
      order by opened_at desc, incident_id desc limit $2`,
    [list.before, list.limit],
  );
  return rows;
}

/**
 * Resolves an incident. Resolving it again keeps the first author and reason.
 * @returns the incident, or null when there is none with this id (a UUID).
 */
export async function resolveIncident(db: Queryable, incidentId: string, author: Author): Promise<IncidentRow | null> {
  const { rows } = await db.query<IncidentRow>(
    `update incident
        set resolved_at = coalesce(resolved_at, clock_timestamp()), resolved_by = coalesce(resolved_by, $2),
            resolved_reason = coalesce(resolved_reason, $3)
      where incident_id = $1
      returning ${incidentColumns}`,
    [incidentId, author.actor, author.reason],
  );
  return rows[0] ?? null;
}

export async function countOpenIncidents(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ open: bigint }>('select count(*) as open from incident where resolved_at is null');
  return Number(rows[0]?.open ?? 0);
}
