import type { Author } from '@quittance/contracts/author.ts';
import type { OperatorAction, Resumption } from '@quittance/contracts/http/chain-watcher/chains.ts';
import type { Pool, Queryable } from '@quittance/postgres/pool.ts';
import { transaction, type Transaction } from '@quittance/postgres/transaction.ts';
import type { WithDates } from '@quittance/runtime/time.ts';
import { resolveHalts } from '../incidents/incident.sql.ts';

type ResumptionRow = WithDates<Resumption, 'halted_at' | 'resumed_at'>;

/** How a permission to follow the nodes below the finalized block was used. */
export type ResumptionOutcome = 'walked_back' | 'no_shared_block' | 'not_needed' | 'replaced';

/**
 * Resumes a halted network; its leader finds that in the database. With `acceptFork`, the leader may go back below the finalized block,
 * once.
 * @returns null when the network is not halted.
 */
export function resumeNetwork(
  pool: Pool,
  network: string,
  { acceptFork, author }: { acceptFork: boolean; author: Author },
): Promise<ResumptionRow | null> {
  return transaction(pool, async (tx) => {
    const { rows: halted } = await tx.query<{ halted_at: Date }>(
      `select halted_at from cursor where network = $1 and state = 'halted' for update`,
      [network],
    );
    if (halted[0] === undefined) return null;
    await settleResumption(tx, network, 'replaced', null);
    const { rows } = await tx.query<ResumptionRow>(
      `insert into resumption (network, halted_at, accept_fork, actor, reason) values ($1, $2, $3, $4, $5)
       returning resumption_id, network, halted_at, accept_fork, actor, reason, resumed_at`,
      [network, halted[0].halted_at, acceptFork, author.actor, author.reason],
    );
    await resolveHalts(tx, network, author);
    await tx.query('update cursor set halted_at = null, halt_reason = null, updated_at = now() where network = $1', [
      network,
    ]);
    return rows[0] ?? null;
  });
}

/** Whether there is an unused permission to go below the finalized block. */
export async function mayAcceptFork(db: Queryable, network: string): Promise<boolean> {
  const { rowCount } = await db.query(
    'select 1 from resumption where network = $1 and accept_fork and outcome is null',
    [network],
  );
  return rowCount !== 0;
}

/** Uses the permission up. */
export async function settleResumption(
  tx: Transaction,
  network: string,
  outcome: ResumptionOutcome,
  ancestor: number | null,
): Promise<void> {
  await tx.query(
    `update resumption set outcome = $2, outcome_at = clock_timestamp(), ancestor_number = $3
      where network = $1 and accept_fork and outcome is null`,
    [network, outcome, ancestor],
  );
}

const LIST_MAX = 100;

type OperatorActionRow = WithDates<OperatorAction, 'at'>;

/**
 * @param list.network null for all networks.
 * @param list.before only actions before this time; null for the newest.
 * @returns at most 100, newest first.
 */
export async function readOperatorActions(
  db: Queryable,
  list: { network: string | null; before: Date | null },
): Promise<OperatorActionRow[]> {
  const newest = (at: string): string =>
    `($1::text is null or network = $1) and ($2::timestamptz is null or ${at} < $2) order by ${at} desc limit ${LIST_MAX}`;
  const { rows } = await db.query<OperatorActionRow>(
    `(select resumed_at as at, network, case when accept_fork then 'accept_fork' else 'resume' end as action, actor, reason,
             jsonb_strip_nulls(jsonb_build_object('outcome', outcome, 'ancestor_number', ancestor_number)) as detail
        from resumption where ${newest('resumed_at')})
     union all
     (select requested_at, network, 'rescan', actor, reason,
             jsonb_build_object('rescan_id', rescan_id, 'from_block', from_block, 'to_block', to_block, 'state', state, 'found', found)
        from rescan where ${newest('requested_at')})
     union all
     (select requested_at, network, 'jump', actor, reason,
             jsonb_strip_nulls(jsonb_build_object('jump_id', jump_id, 'state', state, 'from_block', left_from,
               'to_block', coalesce(left_through, to_block), 'wallets', wallets, 'error', error))
        from jump where ${newest('requested_at')})
     union all
     (select resolved_at, network, 'resolve_incident', resolved_by, resolved_reason,
             jsonb_build_object('incident_id', incident_id, 'kind', kind)
        from incident where resolved_at is not null and resolved_by is not null and ${newest('resolved_at')})
     order by at desc limit ${LIST_MAX}`,
    [list.network, list.before],
  );
  return rows;
}
