import type { Resumption, OperatorAction } from '@quittance/contracts/http/chain-watcher/operator-actions.ts';
import type { ChainStatus, EndpointStatus } from '@quittance/contracts/http/chain-watcher/chains.ts';
import type { Jump } from '@quittance/contracts/http/chain-watcher/jumps.ts';
import { record, sections, table, type Cell } from '../text.ts';
import type { Rescan } from '@quittance/contracts/http/chain-watcher/rescans.ts';

/** Networks side by side, so that the one that stands still catches the eye; below, why one is halted and the nodes of each. */
export const chainsView = (chains: readonly ChainStatus[]): string =>
  [
    table(chains, {
      network: 'network',
      head: (chain) => chain.endpoint_head ?? chain.head,
      scanned: 'cursor',
      final: 'final',
      finalized: 'finalized',
      audited: 'audited',
      lag: 'lag_blocks',
      age: (chain) => (chain.lag_seconds === null ? null : duration(chain.lag_seconds)),
      'halted since': (chain) => chain.halted_at ?? 'no',
    }),
    table(chains, {
      network: 'network',
      'final through': 'scanned_through',
      wallets: 'watched_wallets',
      'back-fills': 'back_fills_waiting',
      incidents: 'open_incidents',
      "chain's clock": ({ chain_clock_difference_seconds: seconds }) => clockText(seconds),
      'our clock': ({ clock_difference_seconds: seconds }) => clockText(seconds),
      asleep: ({ asleep }) => (asleep ? 'yes' : 'no'),
      'answered by': (chain) => `${chain.replica}, ${chain.leader ? 'the leader' : 'not the leader'}`,
    }),
    ...chains
      .filter((chain) => chain.halt_reason !== null)
      .map((chain) => `${chain.network} is halted: ${String(chain.halt_reason)}`),
    ...chains
      .filter((chain) => (chain.scan_error ?? null) !== null)
      .map((chain) => `${chain.network} could not be read on at the last try: ${String(chain.scan_error)}`),
    ...chains.map((chain) => sections([[`nodes of ${chain.network}`, endpointsText(chain.endpoints)]])),
  ].join('\n\n');

export const resumedView = (resumed: Resumption): string =>
  record({
    network: resumed.network,
    halted: resumed.halted_at,
    resumed: resumed.resumed_at,
    fork: resumed.accept_fork ? 'accepted: the nodes may be followed below what had been final, once' : 'not accepted',
    who: resumed.actor,
    why: resumed.reason,
  });

const endpointsText = (endpoints: readonly EndpointStatus[]): string =>
  table(endpoints, {
    endpoint: 'endpoint',
    state: 'state',
    head: 'head',
    behind: 'head_lag_blocks',
    'p50 ms': (node) => node.latency_ms?.p50,
    'p95 ms': (node) => node.latency_ms?.p95,
    requests: 'requests',
    failures: (node) => failuresText(node.failures),
    'cooldown until': 'cooldown_until',
    'budget of the day': (node) => budgetText(node.budget ?? null),
    'last error': (node) => lastError(node),
  });

const failuresText = (failures: Record<string, number>): Cell =>
  Object.entries(failures)
    .map(([cause, times]) => `${cause} ${times}`)
    .join(', ') || null;

const lastError = ({ last_error: error, last_error_at: at }: EndpointStatus): Cell =>
  error === null ? null : at ? `${error} (${at.slice(11, 19)}Z)` : error;

function budgetText(budget: NonNullable<EndpointStatus['budget']> | null): Cell {
  if (budget === null) return null;
  const { requests, units, slowed, day_ends_at: end } = budget;
  const parts = Object.entries({ requests, units }).flatMap(([name, part]) =>
    part === null ? [] : [`${part.used} of ${part.limit} ${name} (${Math.floor((100 * part.used) / part.limit)} %)`],
  );
  return `${parts.join(', ')} until ${end.slice(11, 16)}Z${slowed ? ', slowed' : ''}`;
}

/** Less the database's. */
const clockText = (seconds: number | null): Cell =>
  seconds === null ? null : `${seconds > 0 ? '+' : ''}${seconds.toFixed(1)} s`;

function duration(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3600)} h`;
}

export const actionsView = ({ actions }: { actions: readonly OperatorAction[] }): string =>
  table(actions, {
    when: 'at',
    who: 'actor',
    network: 'network',
    what: ({ action }) => action.replaceAll('_', ' '),
    details: ({ detail }) => detailsText(detail),
    why: 'reason',
  });

/** What a person reads first comes first; ids of rescans are for programs. */
const shown = [
  'kind',
  'outcome',
  'ancestor_number',
  'from_block',
  'to_block',
  'state',
  'found',
  'wallets',
  'error',
  'incident_id',
];

const detailsText = (detail: Record<string, unknown>): Cell =>
  shown
    .filter((name) => (detail[name] ?? null) !== null)
    .map((name) => `${name.replaceAll('_', ' ')} ${String(detail[name]).replaceAll('_', ' ')}`)
    .join(', ') || null;

export const jumpView = (jump: Jump): string =>
  record({
    network: jump.network,
    state: jump.state,
    ...(jump.left_from !== null && { 'left out': `blocks ${jump.left_from} to ${String(jump.left_through)}` }),
    ...(jump.wallets !== null && { 'read for': `${jump.wallets} wallets` }),
    who: jump.actor,
    why: jump.reason,
    ...(jump.error !== null && { error: jump.error }),
  });

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
