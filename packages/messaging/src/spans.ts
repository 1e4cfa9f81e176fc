import { type SpanAttributes, isSampled, spanOrigin, tracer, type Span } from '@quittance/runtime/tracing/tracing.ts';
import type { Outcome } from './broker/publisher.ts';
import { EXCHANGE } from './broker/topology.ts';
import type { OutboxRow } from './outbox/store.ts';
import { type Delivered, publishedAt, type Result } from './consumer/delivery.ts';
import type { DecodedMessage, Handler } from './consumer/handler.ts';

/** By OpenTelemetry's semantic conventions for messaging. */
function messagingAttributes(
  operation: 'send' | 'process',
  message: { routingKey: string; destination: string; messageId: string; requestId: string },
): SpanAttributes {
  return {
    'messaging.system': 'rabbitmq',
    'messaging.operation.name': operation,
    'messaging.operation.type': operation,
    'messaging.rabbitmq.destination.routing_key': message.routingKey,
    'messaging.destination.name': message.destination,
    'messaging.message.id': message.messageId,
    'messaging.message.conversation_id': message.requestId,
  };
}

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

/** A delivery with the span of its processing, from its attempt to the acknowledgement. Each attempt has its own span. */
export type Traced = { span?: Span };

/**
 * Starts the span of a delivery; its effect belongs to that span.
 * @param batchSize how many deliveries share the transaction.
 * @returns the delivery unchanged when nothing is traced.
 */
export function startProcessSpan<T extends Traced & Delivered & { message: DecodedMessage }>(
  delivered: T,
  { queue, handler }: { queue: string; handler: Handler },
  batchSize: number,
): T {
  const tracing = tracer();
  if (tracing === null) return delivered;
  const { delivery, message } = delivered;
  const { messageId, requestId } = message;
  const destination = `${EXCHANGE}:${handler.message.name}:${queue}`;
  const origin = spanOrigin(message.traceparent, publishedAt(delivery) ?? new Date());
  const span = tracing.start(`process ${destination}`, 'consumer', { origin });
  if (span.isSampled) {
    const { routingKey, redelivered } = delivery.fields;
    span.set({
      ...messagingAttributes('process', { routingKey, destination, messageId, requestId }),
      'quittance.messaging.redelivered': redelivered,
      ...(batchSize > 1 && { 'messaging.batch.message_count': batchSize }),
    });
  }
  return { ...delivered, span, message: { ...message, traceparent: span.traceparent } };
}

/** Ends a delivery's span with its result. Ending it twice changes nothing. */
export function endProcessSpan({ span }: Traced, outcome: Result): void {
  if (span === undefined) return;
  span.set({ 'quittance.messaging.result': outcome.result });
  if ('error' in outcome) span.fail(outcome.error instanceof Error ? outcome.error.name : 'error');
  span.end();
}
