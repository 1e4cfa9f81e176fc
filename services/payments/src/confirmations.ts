import type { ChainTips, ReadTips } from './chain-tips.ts';

/** A payment's row joined with that of its transfer. Null in each of the transfer's columns while there is none. */
export type WithTransfer = { status: string; network: string; read_at: Date } & (LedgerTransfer | NoTransfer);

export type NoTransfer = { transaction_id: null };
export type LedgerTransfer = {
  transaction_id: string;
  block_number: bigint;
  confirmations: number;
  confirmations_required: number;
  /** When the ledger's row was written, by the clock of `read_at`. */
  observed_at: Date;
};

/**
 * Brings up to date how often the transfers of CHECKING payments are confirmed: the ledger has the number from when the transfer was
 * heard of, and each block since has added one. Asks only when that may make a difference.
 * @param rows as the database has just answered them.
 */
export async function withConfirmationsSoFar<Row extends WithTransfer>(
  rows: readonly Row[],
  readTips: ReadTips,
): Promise<readonly Row[]> {
  const readAt = performance.now();
  if (!rows.some(isWaitedFor)) return rows;
  const tips = await readTips();
  return rows.map((row) => (isWaitedFor(row) ? { ...row, confirmations: confirmationsBy(tips, row, readAt) } : row));
}

/**
 * What the ledger says is the least: whoever counts from another block than it does, counts wrong. More than what is required is not
 * counted, so that the number never goes back when the transfer is confirmed and the ledger has the chain's word again.
 * @param readAt when the row was read, by performance.now().
 */
export function confirmationsBy(
  { heights, askedAt }: ChainTips,
  row: LedgerTransfer & { network: string; read_at: Date },
  readAt: number,
): number {
  const height = heights.get(row.network);
  // Ages are compared, for the two clocks need not agree. A tip from before the news may be of blocks that have been reorganised away.
  const heardAt = readAt - (row.read_at.getTime() - row.observed_at.getTime());
  if (height === undefined || askedAt < heardAt) return row.confirmations;
  const counted = height - Number(row.block_number) + 1;
  return Math.max(row.confirmations, Math.min(counted, row.confirmations_required));
}

const isWaitedFor = <Row extends WithTransfer>(row: Row): row is Row & LedgerTransfer =>
  row.status === 'CHECKING' && row.transaction_id !== null && row.confirmations < row.confirmations_required;
