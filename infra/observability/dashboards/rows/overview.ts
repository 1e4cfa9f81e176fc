import type { RowSpec } from '../panels.ts';
import { increase, max, quantile, rate } from '../queries.ts';

const requests =
  'http_request_duration_seconds_count{service="api-gateway", route!~"/livez|/readyz|/metrics|/internal/.*"}';
const failed = requests.replace('}', ', status=~"5.."}');

/** One glance: are payments made, and does anything block them? */
export const overview: readonly RowSpec[] = [
  {
    title: 'Now',
    panels: [
      {
        title: 'Created in an hour',
        unit: 'short',
        stat: true,
        queries: [['sum(increase(payment_creations_total{outcome="created"}[1h]))', '']],
      },
      {
        title: 'Paid in an hour',
        unit: 'short',
        stat: true,
        queries: [['sum(increase(payment_transitions_total{to="PAID"}[1h]))', '']],
      },
      {
        title: 'Webhooks delivered in an hour',
        unit: 'short',
        stat: true,
        queries: [['sum(increase(webhook_attempts_total{result="delivered"}[1h]))', '']],
      },
      {
        title: 'API failures (1 h)',
        unit: 'percentunit',
        stat: true,
        queries: [[`(sum(rate(${failed}[1h])) or vector(0)) / sum(rate(${requests}[1h]))`, '']],
      },
      {
        title: 'Dead letters',
        unit: 'short',
        stat: true,
        queries: [['sum(max by (queue) (messaging_dead_letters))', '']],
      },
      {
        title: 'Open incidents',
        unit: 'short',
        stat: true,
        queries: [['max(payment_open_incidents) + sum(max by (network, kind) (chain_open_incidents))', '']],
      },
      { title: 'Oldest webhook due', unit: 's', stat: true, queries: [[max('webhook_oldest_due_seconds'), '']] },
      {
        title: 'Oldest message unsent',
        unit: 's',
        stat: true,
        queries: [[max('messaging_outbox_oldest_age_seconds'), '']],
      },
    ],
  },
  {
    title: 'Money',
    panels: [
      {
        title: 'Creations, by outcome',
        unit: 'short',
        queries: [[increase('payment_creations_total', 'outcome'), '{{outcome}}']],
      },
      {
        title: 'Payments that changed status',
        unit: 'short',
        queries: [[increase('payment_transitions_total', 'from, to'), '{{from}} → {{to}}']],
      },
      {
        title: 'Webhook attempts',
        unit: 'short',
        queries: [[increase('webhook_attempts_total', 'result'), '{{result}}']],
      },
      {
        title: 'Transfers published',
        unit: 'short',
        queries: [[increase('chain_transfers_total', 'network, phase'), '{{network}} {{phase}}']],
      },
      {
        title: 'Age of the last block scanned',
        unit: 's',
        queries: [[max('chain_lag_seconds', 'network'), '{{network}}']],
      },
      {
        title: 'Payments overdue to expire',
        unit: 's',
        queries: [[max('payment_expiry_lag_seconds', 'network'), '{{network}}']],
      },
    ],
  },
  {
    title: 'Merchants and customers',
    panels: [
      { title: 'Requests', unit: 'reqps', queries: [[rate(requests, 'status'), '{{status}}']] },
      {
        title: 'Response time',
        unit: 's',
        queries: [
          [quantile(0.5, requests.replace('_count', ''), ''), 'half'],
          [quantile(0.99, requests.replace('_count', ''), ''), '99 of 100'],
        ],
      },
      {
        title: 'Alerts that fire',
        unit: 'short',
        queries: [['sum by (alertname, severity) (ALERTS{alertstate="firing"})', '{{severity}}: {{alertname}}']],
      },
    ],
  },
];
