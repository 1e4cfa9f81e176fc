import type { FinalHeights } from '@quittance/chain-reader/chain/finality.ts';
import type { BlockHead } from '@quittance/chain-reader/chain/local-chain.ts';
import type { Block } from '@quittance/chain-reader/rpc/answers.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { fencedOff, moveParameters, MOVE_CURSOR, type CursorMove } from '../leadership/cursor.sql.ts';
import {
  confirmSql,
  finalParameters,
  oldestFirst,
  type Thresholds,
  type TransferRow,
} from '../transfers/transfer.sql.ts';

/** A leader that has been replaced writes nothing: its cursor does not move, and the rest depends on that. */
const IF_LEADING = 'exists (select from moved)';

/**
 * Moves the cursor, stores blocks and confirms the transfers that become final, in one round trip, because every poll that finds blocks
 * needs it. It is also the transaction's fence: call it first.
 * @returns the transfers that are confirmed now.
 * @throws Fenced
 */
export async function storeScan(
  tx: Transaction,
  network: Thresholds,
  { move, blocks, heights }: { move: CursorMove; blocks: readonly Block[]; heights: FinalHeights },
): Promise<TransferRow[]> {
  const { rows } = await tx.query<TransferRow | { transaction_id: null }>(
    `with moved as (${MOVE_CURSOR} returning 1),
       stored as (${insertBlocksSql(13, IF_LEADING)}),
       confirmed as (${confirmSql(14, IF_LEADING)})
     select confirmed.* from moved left join confirmed on true`,
    [...moveParameters(move), blocksParameter(blocks), ...finalParameters(network, heights)],
  );
  // When no transfer is confirmed, there is one row without a transfer.
  if (rows.length === 0) throw fencedOff(network.id);
  return rows.filter((row): row is TransferRow => row.transaction_id !== null).sort(oldestFirst);
}

/** A bound only: far more than any network keeps above its finalized block. */
const MAX_LOADED_BLOCKS = 200_000;

/** The stored end of our chain, ascending. */
export async function loadCanonicalBlocks(pool: Pool, network: string): Promise<BlockHead[]> {
  const { rows } = await pool.query<BlockHead>(
    `select * from (
       select number::float8, '0x' || encode(hash, 'hex') as hash, extract(epoch from timestamp)::float8 as timestamp
       from block where network = $1 and canonical order by block.number desc limit $2
     ) newest order by number`,
    [network, MAX_LOADED_BLOCKS],
  );
  return rows;
}

/**
 * An orphaned block that has come back becomes canonical again. $1 is the network.
 * @param parameter the position of blocksParameter() among the parameters.
 */
const insertBlocksSql = (parameter: number, condition = 'true'): string =>
  `insert into block (network, number, hash, parent_hash, timestamp, canonical)
   select $1, number, decode(substr(hash, 3), 'hex'), decode(substr("parentHash", 3), 'hex'), to_timestamp(timestamp), true
   from jsonb_to_recordset($${String(parameter)}) as new(number bigint, hash text, "parentHash" text, timestamp bigint)
   where ${condition}
   on conflict (network, hash) do update set canonical = true`;

const blocksParameter = (blocks: readonly Block[]): string =>
  JSON.stringify(blocks, ['number', 'hash', 'parentHash', 'timestamp']);

export async function insertBlocks(tx: Transaction, network: string, blocks: readonly Block[]): Promise<void> {
  await tx.query(insertBlocksSql(2), [network, blocksParameter(blocks)]);
}

export async function orphanBlocksAbove(tx: Transaction, network: string, number: number): Promise<void> {
  await tx.query('update block set canonical = false where network = $1 and number > $2 and canonical', [
    network,
    number,
  ]);
}

/** Deletes blocks that no reorg can reach any more. Transfers keep their own copy of what they need. */
export async function pruneBlocksBelow(tx: Transaction, network: string, number: number): Promise<void> {
  await tx.query('delete from block where network = $1 and number < $2', [network, number]);
}
