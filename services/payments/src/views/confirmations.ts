import type { NetworkTip } from '@quittance/contracts/http/chain-watcher/tips.ts';
import type { WaitingFor } from '@quittance/contracts/payment.ts';
import type { ViewedTransfer, WithTransfer } from '../queries/payment-views.ts';
import type { ChainTips, ReadTips } from './chain-tips.ts';
import type { ConfirmationDemand, ConfirmationPolicy } from './confirmation-policy.ts';

/** What tells how far a transfer has come. */
export type ProgressSources = { readTips: ReadTips; policy: ConfirmationPolicy };

export type WithProgress = { waiting_for: WaitingFor | null };

/**
 * Brings the confirmations of CHECKING payments up to date, and says what they wait for: the ledger has what the last message said about
 * the transfer, and each block since has added a confirmation. Asks chain-watcher only when that may make a difference.
 * @param rows just read from the database.
 */
export async function withProgress<Row extends WithTransfer & { amount_units: bigint }>(
  rows: readonly Row[],
  { readTips, policy }: ProgressSources,
): Promise<readonly (Row & WithProgress)[]> {
  const readAt = performance.now();
  const demandOf = (row: Row) => policy(row.network, row.amount_units);
  const needsTip = (row: Row) => isChecking(row) && (isConfirming(row) || needsMore(demandOf(row)));
  const known = rows.some(needsTip) ? await readTips() : null;
  return rows.map((row) => {
    if (!isChecking(row)) return { ...row, waiting_for: null };
    const current = known === null ? row : { ...row, confirmations: confirmationsBy(known, row, readAt) };
    return { ...current, waiting_for: waitingFor(current, demandOf(row), known?.tips.get(row.network)) };
  });
}

/**
 * The ledger's number is the minimum: a tip that is behind it counts wrong. The maximum is what is required, so that the number never
 * goes back when the transfer is confirmed and the ledger has the chain's own number again.
 * @param readAt when the row was read, by performance.now().
 */
export function confirmationsBy(
  { tips, askedAt }: ChainTips,
  row: Omit<ViewedTransfer, 'transaction_event_index'> & { network: string; read_at: Date },
  readAt: number,
): number {
  const tip = tips.get(row.network);
  // Ages are compared, for the two clocks need not agree. A tip from before the message may be of blocks that a reorg removed.
  const observedAt = readAt - (row.read_at.getTime() - row.observed_at.getTime());
  if (tip === undefined || askedAt < observedAt) return row.confirmations;
  const counted = tip.height - Number(row.block_number) + 1;
  return Math.max(row.confirmations, Math.min(counted, row.confirmations_required));
}

/** @param tip undefined while chain-watcher has not answered: then the first of what is still needed is named. */
function waitingFor(
  transfer: ViewedTransfer,
  { finality, isLarge, agreement }: ConfirmationDemand,
  tip: NetworkTip | undefined,
): WaitingFor | null {
  if (isConfirming(transfer)) return 'confirmations';
  const finalHeight = (isLarge ? tip?.large_final_height : tip?.final_height) ?? -1;
  if (finality && transfer.block_number > finalHeight) return 'finality';
  return agreement ? 'second_endpoint' : null;
}

const needsMore = ({ finality, agreement }: ConfirmationDemand): boolean => finality || agreement;

const isConfirming = (transfer: ViewedTransfer): boolean => transfer.confirmations < transfer.confirmations_required;

const isChecking = <Row extends WithTransfer>(row: Row): row is Row & ViewedTransfer =>
  row.status === 'CHECKING' && row.transaction_id !== null;
