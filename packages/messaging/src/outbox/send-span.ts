import { isSampled, spanOrigin, tracer } from '@quittance/runtime/tracing/tracing.ts';
import type { Outcome } from '../broker/publisher.ts';
import { messagingAttributes } from '../broker/span-attributes.ts';
import { EXCHANGE } from '../broker/topology.ts';
import type { OutboxRow } from './store.ts';

/** The span of one message, from its publishing to RabbitMQ's confirmation. */
export type SendSpan = {
  /** The traceparent that its receivers continue. */
  traceparent: string;
  end(outcome: Outcome | undefined): void;
};

/** @returns undefined for a message that is in no exported trace: it is sent with the traceparent of its row. */
export function startSendSpan(row: OutboxRow): SendSpan | undefined {
  const tracing = tracer();
  if (tracing === null || row.traceparent === null || !isSampled(row.traceparent)) return undefined;
  const destination = `${EXCHANGE}:${row.name}`;
  const span = tracing.start(`send ${destination}`, 'producer', {
    origin: spanOrigin(row.traceparent, row.created_at),
    attributes: messagingAttributes('send', {
      routingKey: row.name,
      destination,
      messageId: row.message_id,
      requestId: row.request_id,
    }),
  });
  return {
    traceparent: span.traceparent,
    end(outcome = 'failed') {
      if (outcome !== 'confirmed') span.fail(outcome);
      span.end();
    },
  };
}
