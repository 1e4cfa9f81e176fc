import type { Author } from '@quittance/contracts/author.ts';
import type { Rescan } from '@quittance/contracts/http/chain-watcher/rescans.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { firstRow } from '@quittance/postgres/rows.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { WithDates } from '@quittance/runtime/time.ts';

export type RescanRow = WithDates<Rescan, 'since' | 'requested_at' | 'finished_at'>;

/** `failed_tries`: how many times in a row the nodes did not have its blocks. */
export type UnfinishedRescan = RescanRow & { failed_tries: number };

/** Heights fit a JavaScript number. */
const COLUMNS = `rescan_id, network, actor, reason, requested_at, from_block::float8, since, to_block::float8, next_block::float8,
  found, state, error, finished_at`;

export async function createRescan(
  db: Queryable,
  rescan: { network: string; fromBlock: number | null; since: Date | null; toBlock: number | null; author: Author },
): Promise<RescanRow> {
  const { rows } = await db.query<RescanRow>(
    `insert into rescan (network, from_block, since, to_block, actor, reason) values ($1, $2, $3, $4, $5, $6)
     returning ${COLUMNS}`,
    [rescan.network, rescan.fromBlock, rescan.since, rescan.toBlock, rescan.author.actor, rescan.author.reason],
  );
  return firstRow(rows);
}

const LIST_MAX = 100;

/** The newest first, at most 100. */
export async function readRescans(db: Queryable, network: string): Promise<RescanRow[]> {
  const { rows } = await db.query<RescanRow>(
    `select ${COLUMNS} from rescan where network = $1 order by requested_at desc, rescan_id limit ${LIST_MAX}`,
    [network],
  );
  return rows;
}

/** The oldest unfinished rescan. */
export async function readNextRescan(db: Queryable, network: string): Promise<UnfinishedRescan | null> {
  const { rows } = await db.query<UnfinishedRescan>(
    `select ${COLUMNS}, failed_tries from rescan where network = $1 and state in ('waiting', 'running')
     order by requested_at, rescan_id limit 1`,
    [network],
  );
  return rows[0] ?? null;
}

/** Stores which blocks it reads, both ends included. */
export async function startRescan(tx: Transaction, id: string, range: { from: number; to: number }): Promise<void> {
  await tx.query(
    `update rescan set state = 'running', from_block = $2, to_block = $3, next_block = $2, error = null
      where rescan_id = $1 and state = 'waiting'`,
    [id, range.from, range.to],
  );
}

/** Records that the blocks up to `through` have been read, and how many unknown transfers they held. */
export async function advanceRescan(
  tx: Transaction,
  id: string,
  { through, found }: { through: number; found: number },
): Promise<void> {
  await tx.query(
    `update rescan set next_block = $2 + 1, found = found + $3, error = null, failed_tries = 0,
       state = case when to_block <= $2 then 'done' else state end,
       finished_at = case when to_block <= $2 then clock_timestamp() end
      where rescan_id = $1 and state = 'running'`,
    [id, through, found],
  );
}

/** It continues later. @param isTry whether this counts as a try in which the blocks were missing. */
export async function delayRescan(tx: Transaction, id: string, error: string, isTry: boolean): Promise<void> {
  await tx.query('update rescan set error = $2, failed_tries = failed_tries + $3 where rescan_id = $1', [
    id,
    error,
    isTry ? 1 : 0,
  ]);
}

export async function failRescan(tx: Transaction, id: string, error: string): Promise<void> {
  await tx.query(
    `update rescan set state = 'failed', error = $2, finished_at = clock_timestamp()
      where rescan_id = $1 and state in ('waiting', 'running')`,
    [id, error],
  );
}
