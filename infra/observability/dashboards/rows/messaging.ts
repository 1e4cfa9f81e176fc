import type { RowSpec } from '../panels.ts';
import { increase, max, quantile, rate } from '../queries.ts';

export const messaging: readonly RowSpec[] = [
  {
    title: 'Outbox',
    panels: [
      {
        title: 'Messages in the outbox',
        unit: 'short',
        queries: [[max('messaging_outbox_waiting', 'service'), '{{service}}']],
      },
      {
        title: 'Oldest of them',
        unit: 's',
        queries: [[max('messaging_outbox_oldest_age_seconds', 'service'), '{{service}}']],
      },
      {
        title: 'Processes connected',
        unit: 'short',
        queries: [['sum by (service, purpose) (messaging_broker_connected)', '{{service}} {{purpose}}']],
      },
      {
        title: 'Published',
        unit: 'short',
        queries: [[rate('messaging_published_total', 'service, outcome'), '{{service}} {{outcome}}']],
      },
      {
        title: 'Time to a publisher confirm',
        unit: 's',
        queries: [[quantile(0.99, 'messaging_confirm_duration_seconds', 'service'), '{{service}}']],
      },
    ],
  },
  {
    title: 'Queues',
    panels: [
      { title: 'Waiting', unit: 'short', queries: [[max('messaging_queue_messages_ready', 'queue'), '{{queue}}']] },
      {
        title: 'Consumers, by queue',
        unit: 'short',
        queries: [[max('messaging_queue_consumers', 'queue'), '{{queue}}']],
      },
      {
        title: 'Not consumed: unsafe or undeclared',
        unit: 'short',
        queries: [[max('messaging_queue_unusable', 'queue'), '{{queue}}']],
      },
      { title: 'Dead letters', unit: 'short', queries: [[max('messaging_dead_letters', 'queue'), '{{queue}}']] },
    ],
  },
  {
    title: 'Consumed',
    panels: [
      {
        title: 'Message age when consumed, median',
        unit: 's',
        queries: [[quantile(0.5, 'messaging_message_age_seconds', 'service, handler'), '{{service}} {{handler}}']],
      },
      {
        title: 'Message age when consumed, p99',
        unit: 's',
        queries: [[quantile(0.99, 'messaging_message_age_seconds', 'service, handler'), '{{service}} {{handler}}']],
      },
      {
        title: 'Done',
        unit: 'short',
        queries: [[rate('messaging_consumed_total{result="done"}', 'service, handler'), '{{service}} {{handler}}']],
      },
      {
        title: 'Failed, dead-lettered or duplicate',
        unit: 'short',
        queries: [
          [
            increase(
              'messaging_consumed_total{result=~"failed|dead|duplicate|postponed|requeued"}',
              'service, handler, result',
            ),
            '{{service}} {{handler}} {{result}}',
          ],
        ],
      },
      {
        title: 'Dead-lettered, by reason',
        unit: 'short',
        queries: [
          [increase('messaging_dead_lettered_total', 'service, handler, reason'), '{{service}} {{handler}} {{reason}}'],
        ],
      },
      {
        title: 'Accepted only because INTERNAL_TOKEN is set',
        unit: 'short',
        queries: [[increase('trust_legacy_accepted_total', 'service, kind'), '{{service}} {{kind}}']],
      },
      {
        title: 'Handler duration, p99',
        unit: 's',
        queries: [
          [quantile(0.99, 'messaging_handler_duration_seconds', 'service, handler'), '{{service}} {{handler}}'],
        ],
      },
      {
        title: 'Messages per batch',
        unit: 'short',
        queries: [
          [
            `${rate('messaging_batch_messages_sum', 'service, handler')} / ${rate('messaging_batch_messages_count', 'service, handler')}`,
            '{{service}} {{handler}}',
          ],
        ],
      },
    ],
  },
];
