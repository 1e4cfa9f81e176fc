import type { ViewedTransfer, WithTransfer } from '../queries/payment-views.ts';
import type { ChainTips, ReadTips } from './chain-tips.ts';

/**
 * Brings the confirmations of CHECKING payments up to date: the ledger has the number of the last message about the transfer, and each
 * block since has added one. Asks chain-watcher only when that may make a difference.
 * @param rows just read from the database.
 */
export async function withCurrentConfirmations<Row extends WithTransfer>(
  rows: readonly Row[],
  readTips: ReadTips,
): Promise<readonly Row[]> {
  const readAt = performance.now();
  if (!rows.some(isConfirming)) return rows;
  const tips = await readTips();
  return rows.map((row) => (isConfirming(row) ? { ...row, confirmations: confirmationsBy(tips, row, readAt) } : row));
}

/**
 * The ledger's number is the minimum: a tip that is behind it counts wrong. The maximum is what is required, so that the number never
 * goes back when the transfer is confirmed and the ledger has the chain's own number again.
 * @param readAt when the row was read, by performance.now().
 */
export function confirmationsBy(
  { heights, askedAt }: ChainTips,
  row: Omit<ViewedTransfer, 'transaction_event_index'> & { network: string; read_at: Date },
  readAt: number,
): number {
  const height = heights.get(row.network);
  // Ages are compared, for the two clocks need not agree. A tip from before the message may be of blocks that a reorg removed.
  const observedAt = readAt - (row.read_at.getTime() - row.observed_at.getTime());
  if (height === undefined || askedAt < observedAt) return row.confirmations;
  const counted = height - Number(row.block_number) + 1;
  return Math.max(row.confirmations, Math.min(counted, row.confirmations_required));
}

const isConfirming = <Row extends WithTransfer>(row: Row): row is Row & ViewedTransfer =>
  row.status === 'CHECKING' && row.transaction_id !== null && row.confirmations < row.confirmations_required;
