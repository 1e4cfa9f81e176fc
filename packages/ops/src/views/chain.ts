import type { Resumption } from '@quittance/contracts/http/chain-watcher/operator-actions.ts';
import type { ChainStatus, EndpointStatus } from '@quittance/contracts/http/chain-watcher/chains.ts';
import { record, sections, table, type Cell } from '../text.ts';

/** Networks side by side, so that the one that stands still catches the eye; below, why one is halted and the nodes of each. */
export const chainsView = (chains: readonly ChainStatus[]): string =>
  [
    table(chains, {
      network: 'network',
      head: 'head',
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
      'answered by': (chain) => `${chain.replica}, ${chain.leader ? 'the leader' : 'not the leader'}`,
    }),
    ...chains
      .filter((chain) => chain.halt_reason !== null)
      .map((chain) => `${chain.network} is halted: ${String(chain.halt_reason)}`),
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
    'last error': (node) => lastError(node),
  });

const failuresText = (failures: Record<string, number>): Cell =>
  Object.entries(failures)
    .map(([cause, times]) => `${cause} ${times}`)
    .join(', ') || null;

const lastError = ({ last_error: error, last_error_at: at }: EndpointStatus): Cell =>
  error === null ? null : at ? `${error} (${at.slice(11, 19)}Z)` : error;

function duration(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3600)} h`;
}
