import type { Rescan } from '@quittance/contracts/http/chain-watcher/rescans.ts';
import { record, table, type Cell } from '../text.ts';

export const rescansView = ({ rescans }: { rescans: readonly Rescan[] }): string =>
  table(rescans, {
    requested: 'requested_at',
    network: 'network',
    from: (rescan) => rescan.from_block ?? rescan.since,
    to: 'to_block',
    read: progress,
    found: 'found',
    state: 'state',
    who: 'actor',
    why: 'reason',
    error: 'error',
  });

export const rescanView = (rescan: Rescan): string =>
  record({
    rescan: rescan.rescan_id,
    network: rescan.network,
    from: rescan.from_block ?? rescan.since,
    to: rescan.to_block ?? 'the last final block',
    state: rescan.state,
    read: progress(rescan),
    found: `${rescan.found} unknown transfers`,
    who: rescan.actor,
    why: rescan.reason,
    ...(rescan.error !== null && { error: rescan.error }),
  });

/** How much of it has been read; unknown until the leader has started. */
function progress({ from_block: from, to_block: to, next_block: next }: Rescan): Cell {
  if (from === null || to === null || next === null) return null;
  const blocks = to - from + 1;
  return `${next - from} of ${blocks} blocks (${Math.floor((100 * (next - from)) / blocks)} %)`;
}
