import type { ConsumeMessage } from 'amqplib';
import {
  forSeveral,
  goingOnFrom,
  inSpan,
  isSampled,
  type Span,
  type SpanAttributes,
  tracer,
} from '@quittance/runtime/tracing/tracing.ts';
import { type Result, publishedAt } from './consumer/delivery.ts';
import type { Handler, DecodedMessage } from './consumer/handler.ts';
import type { OutboxRow } from './outbox/store.ts';
import type { Outcome } from './broker/publisher.ts';
import { EXCHANGE } from './broker/topology.ts';

/** One sending of a message, from its publishing to RabbitMQ's word. */
export type Sending = {
  /** What its receivers go on from. */
  traceparent: string;
  end(outcome: Outcome | undefined): void;
};

/** @returns undefined for a message that is in no exported trace: it is sent with what it was written with. */
export function startSending(row: OutboxRow): Sending | undefined {
  const tracing = tracer();
  if (tracing === null || row.traceparent === null || !isSampled(row.traceparent)) return undefined;
  const destination = `${EXCHANGE}:${row.name}`;
  const span = tracing.start(`send ${destination}`, 'producer', {
    origin: goingOnFrom(row.traceparent, row.created_at),
    attributes: {
      ...common('send', row.name),
      'messaging.destination.name': destination,
      'messaging.message.id': row.message_id,
      'messaging.message.conversation_id': row.request_id,
    },
  });
  return {
    traceparent: span.traceparent,
    end(outcome = 'failed') {
      if (outcome !== 'confirmed') span.fail(outcome);
      span.end();
    },
  };
}

/** A delivery with the span of its taking: from its turn to the acknowledgement. One that is tried again has one each time. */
export type Traced = { span?: Span };

/**
 * Begins the span of a delivery's taking. Its effect belongs to that span.
 * @param batchSize how many deliveries share the transaction.
 * @returns what was given, where nothing is traced.
 */
export function traced<T extends Traced & { delivery: ConsumeMessage; heard: DecodedMessage }>(
  arrival: T,
  { queue, handler }: { queue: string; handler: Handler },
  batchSize: number,
): T {
  const tracing = tracer();
  if (tracing === null) return arrival;
  const { delivery, heard } = arrival;
  const destination = `${EXCHANGE}:${handler.message.name}:${queue}`;
  const origin = goingOnFrom(heard.traceparent, publishedAt(delivery));
  const span = tracing.start(`process ${destination}`, 'consumer', { origin });
  if (span.isSampled) {
    span.set({
      ...common('process', delivery.fields.routingKey),
      'messaging.destination.name': destination,
      'messaging.message.id': heard.messageId,
      'messaging.message.conversation_id': heard.requestId,
      'quittance.messaging.redelivered': delivery.fields.redelivered,
      ...(batchSize > 1 && { 'messaging.batch.message_count': batchSize }),
    });
  }
  return { ...arrival, span, heard: { ...heard, traceparent: span.traceparent } };
}

/** Runs what takes these deliveries: in the span of a lone one, in nobody's for several. */
export function inProcessing<T>(batch: readonly Traced[], fn: () => T): T {
  const [first, ...others] = batch;
  if (others.length === 0) return inSpan(first?.span, fn);
  return forSeveral(
    batch.map(({ span }) => span?.traceparent),
    fn,
  );
}

/** Ends a delivery's span with what the delivery came to. Doing it again changes nothing. */
export function endProcessing({ span }: Traced, outcome: Result): void {
  if (span === undefined) return;
  span.set({ 'quittance.messaging.result': outcome.result });
  if (outcome.result === 'failed' || outcome.result === 'dead') span.fail(nameOf(outcome.error));
  span.end();
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : 'error');

function common(operation: 'send' | 'process', routingKey: string): SpanAttributes {
  return {
    'messaging.system': 'rabbitmq',
    'messaging.operation.name': operation,
    'messaging.operation.type': operation,
    'messaging.rabbitmq.destination.routing_key': routingKey,
  };
}
