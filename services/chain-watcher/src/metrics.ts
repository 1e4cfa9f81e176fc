import type { Metrics } from '@quittance/runtime/metrics.ts';
import { INCIDENT_KINDS } from './incidents/incident.sql.ts';

/** One set for the process, labelled by network. */
export type ChainMetrics = ReturnType<typeof createChainMetrics>;

export function createChainMetrics(metrics: Metrics) {
  const network = ['network'] as const;
  return {
    cursor: metrics.gauge('chain_cursor_block', 'Height of the last block scanned', network),
    lagBlocks: metrics.gauge('chain_lag_blocks', 'Blocks between the cursor and the head last seen', network),
    lagSeconds: metrics.gauge('chain_lag_seconds', 'Age of the last block scanned, by its own timestamp', network),
    clockDifference: metrics.gauge(
      'chain_clock_difference_seconds',
      'Timestamp of the newest block less the clock of this process, or of the database, when the block was read',
      ['network', 'clock'],
    ),
    leader: metrics.gauge('chain_leader', '1 while this replica scans the network', network),
    halted: metrics.gauge('chain_halted', '1 while the network waits for an operator', network),
    watchedWallets: metrics.gauge('chain_watched_wallets', 'Wallets matched against new blocks', network),
    blocksScanned: metrics.counter('chain_blocks_scanned_total', 'Blocks scanned and committed', network),
    backFilledBlocks: metrics.counter('chain_backfilled_blocks_total', 'Blocks read again for late watches', network),
    transfers: metrics.counter(
      'chain_transfers_total',
      'Transfers published to payments, by phase: seen, confirmed, retracted',
      ['network', 'phase'],
    ),
    awaitingCrossCheck: metrics.gauge(
      'chain_transfers_awaiting_cross_check',
      'Transfers that are final and wait for a second endpoint to show them',
      network,
    ),
    auditLagBlocks: metrics.gauge(
      'chain_audit_lag_blocks',
      'Final blocks that are not read a second time yet',
      network,
    ),
    rescannedBlocks: metrics.counter('chain_rescanned_blocks_total', 'Blocks read again for an operator', network),
    missedTransfers: metrics.counter(
      'chain_missed_transfers_total',
      'Transfers that the scan missed and a second reading found',
      network,
    ),
    incidents: metrics.counter('chain_incidents_total', 'Incidents raised', ['network', 'kind']),
    reorgDepth: metrics.histogram(
      'chain_reorg_depth_blocks',
      'Blocks orphaned by a reorg',
      network,
      [1, 2, 3, 5, 8, 13, 21, 34, 64],
    ),
  };
}

/** Alerts watch these counters for an increase. A counter that first appears with its first event shows no increase. */
export function startAtZero(metrics: ChainMetrics, network: string): void {
  for (const kind of INCIDENT_KINDS) metrics.incidents.inc({ network, kind }, 0);
  for (const phase of ['seen', 'confirmed', 'retracted']) metrics.transfers.inc({ network, phase }, 0);
  for (const counter of [metrics.missedTransfers, metrics.backFilledBlocks, metrics.rescannedBlocks])
    counter.inc({ network }, 0);
  metrics.reorgDepth.zero({ network });
}
