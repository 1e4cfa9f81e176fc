import { type Span, spanOrigin, tracer } from '@quittance/runtime/tracing/tracing.ts';
import { messagingAttributes } from '../broker/span-attributes.ts';
import { EXCHANGE } from '../broker/topology.ts';
import { type Delivered, publishedAt, type Result } from './delivery.ts';
import type { DecodedMessage, Handler } from './handler.ts';

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
