import type { Transaction } from '@quittance/postgres/transaction.ts';

export type IncidentKind = 'fork_below_finalized' | 'confirmed_transfers_retracted' | 'endpoints_disagree';

/**
 * Leaves a row for the operator. Alerts are raised from the metric that is counted with it.
 * @returns whether it is news.
 */
export async function raiseIncident(
  tx: Transaction,
  incident: { network: string; kind: IncidentKind; detail: Record<string, unknown> },
): Promise<boolean> {
  await tx.query('insert into incident (network, kind, detail) values ($1, $2, $3)', [
    incident.network,
    incident.kind,
    JSON.stringify(incident.detail),
  ]);
  return true;
}
