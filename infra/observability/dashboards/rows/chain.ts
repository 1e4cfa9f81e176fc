import type { RowSpec } from '../panels.ts';
import { increase, max, quantile, rate } from '../queries.ts';

const chosen = 'network=~"$network"';
const max_ = (gauge: string, by = 'network') => max(`${gauge}{${chosen}}`, by);

export const chain: readonly RowSpec[] = [
  {
    title: 'How far the chains are followed',
    panels: [
      { title: 'Age of the last block scanned', unit: 's', queries: [[max_('chain_lag_seconds'), '{{network}}']] },
      {
        title: 'Blocks a minute',
        unit: 'short',
        queries: [
          [`60 * max by (network) (deriv(chain_endpoint_head_block{${chosen}}[5m]))`, '{{network}} on the chain'],
          [`60 * max by (network) (deriv(chain_cursor_block{${chosen}}[5m]))`, '{{network}} scanned'],
        ],
        description:
          'If the chain advances but its scan does not, the fault is ours. If both are at zero, the chain has stopped.',
      },
      { title: 'Blocks behind the head', unit: 'short', queries: [[max_('chain_lag_blocks'), '{{network}}']] },
      {
        title: 'Leaders and halts',
        unit: 'short',
        queries: [
          [`sum by (network) (chain_leader{${chosen}})`, '{{network}} leaders'],
          [max_('chain_halted'), '{{network}} halted'],
        ],
        description: 'Each network has one leader. A halted one waits for an operator.',
      },
      {
        title: 'Blocks scanned',
        unit: 'short',
        queries: [[rate(`chain_blocks_scanned_total{${chosen}}`, 'network'), '{{network}}']],
      },
      {
        title: 'Blocks read again',
        unit: 'short',
        queries: [
          [rate(`chain_backfilled_blocks_total{${chosen}}`, 'network'), '{{network}} for late watches'],
          [rate(`chain_rescanned_blocks_total{${chosen}}`, 'network'), '{{network}} for an operator'],
        ],
      },
      {
        title: "The newest block's time",
        unit: 's',
        queries: [[max_('chain_clock_difference_seconds', 'network, clock'), '{{network}} less the {{clock}}']],
        description: 'When it was read. Above 0 the clocks differ by at least that much; below 0 it is mostly age.',
      },
      { title: 'Audit behind', unit: 'short', queries: [[max_('chain_audit_lag_blocks'), '{{network}}']] },
    ],
  },
  {
    title: 'What was found',
    panels: [
      {
        title: 'Transfers published',
        unit: 'short',
        queries: [[increase(`chain_transfers_total{${chosen}}`, 'network, phase'), '{{network}} {{phase}}']],
      },
      { title: 'Wallets watched', unit: 'short', queries: [[max_('chain_watched_wallets'), '{{network}}']] },
      {
        title: 'Transfers that wait for a second endpoint',
        unit: 'short',
        queries: [[max_('chain_transfers_awaiting_cross_check'), '{{network}}']],
      },
      {
        title: 'Open incidents',
        unit: 'short',
        queries: [[max_('chain_open_incidents', 'network, kind'), '{{network}} {{kind}}']],
      },
      {
        title: 'Incidents raised and transfers missed',
        unit: 'short',
        queries: [
          [increase(`chain_incidents_total{${chosen}}`, 'network, kind'), '{{network}} {{kind}}'],
          [increase(`chain_missed_transfers_total{${chosen}}`, 'network'), '{{network}} missed'],
        ],
      },
      {
        title: 'Reorganisations',
        unit: 'short',
        queries: [[increase(`chain_reorg_depth_blocks_count{${chosen}}`, 'network'), '{{network}}']],
      },
    ],
  },
  {
    title: 'Nodes',
    panels: [
      {
        title: 'Endpoints that can be used',
        unit: 'short',
        queries: [[`max by (network, endpoint) (chain_endpoint_available{${chosen}})`, '{{network}} {{endpoint}}']],
        description: 'By their position in the networks file, from 0.',
      },
      {
        title: 'Blocks behind the best head',
        unit: 'short',
        queries: [[max_('chain_endpoint_head_lag_blocks', 'network, endpoint'), '{{network}} {{endpoint}}']],
      },
      { title: 'Announces its blocks', unit: 'short', queries: [[max_('chain_new_heads_connected'), '{{network}}']] },
      {
        title: 'Calls',
        unit: 'reqps',
        queries: [[rate(`chain_rpc_requests_total{${chosen}}`, 'network, endpoint'), '{{network}} {{endpoint}}']],
      },
      {
        title: 'Plans of the day',
        unit: 'percentunit',
        queries: [
          [max_('chain_endpoint_budget_used_ratio', 'network, endpoint'), '{{network}} {{endpoint}} used'],
          [max_('chain_endpoint_budget_ahead_ratio', 'network, endpoint'), '{{network}} {{endpoint}} ahead of the day'],
        ],
        description: 'Above 0 ahead of the day, a plan does not last at this pace.',
      },
      {
        title: 'Failures, by cause',
        unit: 'reqps',
        queries: [
          [
            rate(`chain_rpc_failures_total{${chosen}}`, 'network, endpoint, cause'),
            '{{network}} {{endpoint}} {{cause}}',
          ],
        ],
      },
      {
        title: 'Latency p95',
        unit: 's',
        queries: [
          [
            quantile(0.95, `chain_rpc_request_duration_seconds{${chosen}}`, 'network, endpoint'),
            '{{network}} {{endpoint}}',
          ],
        ],
      },
    ],
  },
];
