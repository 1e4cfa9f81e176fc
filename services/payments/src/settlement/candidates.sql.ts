import type { Queryable } from '@quittance/postgres/pool.ts';
import { candidatesSql, merchantsConcernedSql, type TransferId } from './transfer.sql.ts';

/** A payment that a transfer may be for, and its merchant. */
export type Candidate = { payment_id: string; merchant_id: string };

/**
 * The payments that an unmatched transfer may be for, the most probable one first, as JSON: Candidate[].
 * @param transfer alias of the transfer's row.
 */
export const candidateListSql = (transfer: string): string =>
  `(select coalesce(jsonb_agg(jsonb_build_object('payment_id', p.payment_id, 'merchant_id', p.merchant_id) order by nearness), '[]')
      from unnest(${candidatesSql(transfer)}) with ordinality as c (id, nearness) join payment p on p.payment_id = c.id)`;

/**
 * What a merchant sees of a transfer's candidates: its own, and whether other merchants have any. `only` is set when there is a single one.
 * @param merchantId null for operators, who see all.
 */
export function shownCandidates(candidates: readonly Candidate[], merchantId: string | null) {
  const own = candidates.filter(({ merchant_id: id }) => merchantId === null || id === merchantId);
  return {
    candidates: own.map(({ payment_id: id }) => id),
    candidates_elsewhere: own.length < candidates.length,
    only: candidates.length === 1 ? (own[0]?.payment_id ?? null) : null,
  };
}

/** @returns the candidates of a transfer and the merchants it concerns; null when the ledger does not have it. */
export async function findConcerned(
  db: Queryable,
  id: TransferId,
): Promise<{ candidates: Candidate[]; concerned: string[] } | null> {
  const { rows } = await db.query<{ candidates: Candidate[]; concerned: string[] }>(
    `select ${candidateListSql('t')} as candidates, ${merchantsConcernedSql('t')} as concerned from transfer t
      where network = $1 and transaction_id = $2 and transaction_event_index = $3`,
    [id.network, id.transaction_id, id.transaction_event_index],
  );
  return rows[0] ?? null;
}
