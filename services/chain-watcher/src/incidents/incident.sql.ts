import type { Author } from '@quittance/contracts/author.ts';
import type { NetworkIncident } from '@quittance/contracts/http/incidents.ts';
import { incidentTable } from '@quittance/postgres/incidents.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { WithDates } from '@quittance/runtime/time.ts';

export const INCIDENT_KINDS = [
  /** The nodes have a different block at a height that was final. The network is halted. */
  'fork_below_finalized',
  /** A reorg retracted confirmed transfers. */
  'confirmed_transfers_retracted',
  /** A second reading of final blocks found a transfer that the scan had missed. */
  'transfer_missed',
  /** A second reading of final blocks does not show a stored transfer. */
  'transfer_unseen_by_audit',
  /** Two endpoints contradict each other about a transfer. */
  'endpoints_disagree',
  /** The owner of the USDT contract has replaced it with another contract. */
  'token_deprecated',
  /** An endpoint gave an answer that a block's hash disproves, or kept contradicting itself. */
  'false_answer',
] as const;
export type IncidentKind = (typeof INCIDENT_KINDS)[number];

type IncidentRow = WithDates<NetworkIncident, 'opened_at' | 'last_seen_at' | 'resolved_at'>;

export const incidents = incidentTable<IncidentRow>(
  'incident_id, kind, network, detail, opened_at, times, last_seen_at, resolved_at, resolved_by, resolved_reason',
);

/**
 * Leaves a row for the operator. The caller also counts a metric, which alerts watch. While an incident with the same cause is open, that
 * one is updated instead, so that an ongoing cause does not bury the others.
 * @param incident.cause distinguishes incidents of one kind. The default is the transfer that `detail` names, or else the whole network.
 * @returns whether the incident is new.
 */
export async function raiseIncident(
  tx: Transaction,
  incident: { network: string; kind: IncidentKind; cause?: string; detail: Record<string, unknown> },
): Promise<boolean> {
  const { rows } = await tx.query<{ times: number }>(
    `insert into incident (network, kind, cause, detail, opened_at, last_seen_at)
     values ($1, $2, $3, $4, clock_timestamp(), clock_timestamp())
     on conflict (network, kind, cause) where resolved_at is null
     do update set detail = excluded.detail, times = incident.times + 1, last_seen_at = excluded.last_seen_at
     returning times`,
    [incident.network, incident.kind, incident.cause ?? causeIn(incident.detail), JSON.stringify(incident.detail)],
  );
  return rows[0]?.times === 1;
}

/** Resuming a halted network resolves the incident of its halt. The next halt is a new incident. */
export async function resolveHalts(tx: Transaction, network: string, author: Author): Promise<void> {
  await tx.query(
    `update incident set resolved_at = clock_timestamp(), resolved_by = $2, resolved_reason = $3
      where network = $1 and kind = 'fork_below_finalized' and resolved_at is null`,
    [network, author.actor, author.reason],
  );
}

export async function countOpenByKind(db: Queryable): Promise<{ network: string; kind: IncidentKind; open: number }[]> {
  const { rows } = await db.query<{ network: string; kind: IncidentKind; open: number }>(
    'select network, kind, count(*)::integer as open from incident where resolved_at is null group by network, kind',
  );
  return rows;
}

export async function countOpenIncidents(db: Queryable, network: string): Promise<number> {
  const { rows } = await db.query<{ open: number }>(
    'select count(*)::integer as open from incident where network = $1 and resolved_at is null',
    [network],
  );
  return rows[0]?.open ?? 0;
}

function causeIn({ transaction_id: id, transaction_event_index: position }: Record<string, unknown>): string {
  return typeof id === 'string' ? `${id}:${String(position)}` : 'network';
}
