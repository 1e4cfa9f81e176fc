import type { FinalHeights } from '@quittance/chain-reader/chain/finality.ts';
import type { Block } from '@quittance/chain-reader/rpc/answers.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { blocksParameter, insertBlocksSql } from './blocks.ts';
import { fencedOff, MOVE_CURSOR, moveParameters, type CursorMove } from './cursor.ts';
import { confirmSql, finalParameters, oldestFirst, type Thresholds, type TransferRow } from './transfers.ts';

/** Nothing is written by a leader that has been replaced: its cursor does not move, and the rest depends on that. */
const IF_LEADING = 'exists (select from moved)';

/**
 * Moves the cursor, stores blocks and confirms what is final with them, in one round trip: every poll that finds something makes it. It is the
 * fence of the transaction: call it first.
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
  // One row without a transfer where none is confirmed.
  if (rows.length === 0) throw fencedOff(network.id);
  return rows.filter((row): row is TransferRow => row.transaction_id !== null).sort(oldestFirst);
}
