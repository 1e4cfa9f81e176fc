import type { RowSpec } from '../panels.ts';
import { increase, max, quantile, rate } from '../queries.ts';

export const webhooks: readonly RowSpec[] = [
  {
    title: 'Backlog',
    panels: [
      { title: 'Due', unit: 'short', queries: [[max('webhook_backlog_deliveries'), 'deliveries']] },
      { title: 'Oldest due', unit: 's', queries: [[max('webhook_oldest_due_seconds'), 'oldest']] },
      {
        title: 'Merchants',
        unit: 'short',
        queries: [
          [max('webhook_overdue_lanes'), 'late'],
          [max('webhook_open_lane_circuits'), 'circuit open'],
          [max('webhook_held_lanes'), 'held'],
        ],
        description:
          'Late: an event is due for more than a minute. Circuit open: the receiver keeps failing and gets one probe at a time. Held: the account is blocked.',
      },
      {
        title: 'Merchants that wait longest',
        unit: 's',
        queries: [[max('webhook_lane_oldest_due_seconds', 'merchant_id'), '{{merchant_id}}']],
      },
      {
        title: 'Their deliveries due',
        unit: 'short',
        queries: [[max('webhook_lane_backlog_deliveries', 'merchant_id'), '{{merchant_id}}']],
      },
      {
        title: 'Merchants whose receiver fails, by how',
        unit: 'short',
        queries: [[max('webhook_failing_lanes', 'error_category'), '{{error_category}}']],
      },
    ],
  },
  {
    title: 'What is sent',
    panels: [
      {
        title: 'Attempts, by result',
        unit: 'reqps',
        queries: [[rate('webhook_attempts_total', 'result'), '{{result}}']],
      },
      {
        title: 'Time of an attempt',
        unit: 's',
        queries: [
          [quantile(0.5, 'webhook_attempt_duration_seconds', ''), 'half'],
          [quantile(0.95, 'webhook_attempt_duration_seconds', ''), '95 of 100'],
        ],
      },
      {
        title: 'Events failed',
        unit: 'short',
        queries: [
          [increase('webhook_failed_events_total', 'service'), 'attempts used up'],
          [increase('webhook_given_up_events_total', 'service'), 'waited too long'],
        ],
      },
    ],
  },
  {
    title: 'The dispatchers',
    panels: [
      { title: 'Paused', unit: 'short', queries: [[max('webhook_paused', 'reason'), '{{reason}}']] },
      {
        title: 'Attempts in flight, by pace',
        unit: 'short',
        queries: [['sum by (pace) (webhook_attempts_in_flight)', '{{pace}}']],
      },
      {
        title: 'Open circuits of hosts',
        unit: 'short',
        queries: [['max by (instance) (webhook_open_host_circuits)', '{{instance}}']],
      },
      {
        title: 'Deliveries claimed',
        unit: 'short',
        queries: [[rate('webhook_claimed_deliveries_total', 'instance'), '{{instance}}']],
      },
      {
        title: 'Attempts cut off',
        unit: 'short',
        queries: [[increase('webhook_interruptions_total', 'instance'), '{{instance}}']],
      },
      {
        title: 'Attempts in the default partition',
        unit: 'short',
        queries: [[max('webhook_misplaced_attempts'), 'attempts']],
      },
    ],
  },
];
