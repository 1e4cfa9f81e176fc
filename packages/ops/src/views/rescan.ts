import { record, table, type Cell } from '../text.ts';

export type Rescan = {
  rescan_id: string;
  network: string;
  state: 'waiting' | 'running' | 'done' | 'failed';
  from_block: number | null;
  since: string | null;
  to_block: number | null;
  next_block: number | null;
  found: number;
  error: string | null;
  actor: string;
  reason: string;
  requested_at: string;
  finished_at: string | null;
};

export const rescansView = ({ rescans }: { rescans: readonly Rescan[] }): string =>
  table(rescans, [
    ['requested', (rescan) => rescan.requested_at],
    ['network', (rescan) => rescan.network],
    ['from', (rescan) => rescan.from_block ?? rescan.since],
    ['to', (rescan) => rescan.to_block],
    ['read', progress],
    ['found', (rescan) => rescan.found],
    ['state', (rescan) => rescan.state],
    ['who', (rescan) => rescan.actor],
    ['why', (rescan) => rescan.reason],
    ['error', (rescan) => rescan.error],
  ]);

export const rescanView = (rescan: Rescan): string =>
  record([
    ['rescan', rescan.rescan_id],
    ['network', rescan.network],
    ['from', rescan.from_block ?? rescan.since],
    ['to', rescan.to_block ?? 'the last final block'],
    ['state', rescan.state],
    ['read', progress(rescan)],
    ['found', `${rescan.found} unknown transfers`],
    ['who', rescan.actor],
    ['why', rescan.reason],
    ...(rescan.error === null ? [] : [['error', rescan.error] as const]),
  ]);

/** How much of it has been read; unknown until the leader has begun. */
function progress({ from_block: from, to_block: to, next_block: next }: Rescan): Cell {
  if (from === null || to === null || next === null) return null;
  const blocks = to - from + 1;
  return `${next - from} of ${blocks} blocks (${Math.floor((100 * (next - from)) / blocks)} %)`;
}
