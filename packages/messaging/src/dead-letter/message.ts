import type { ConsumeMessage, GetMessage } from 'amqplib';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { headersOf, propertiesOf } from '../broker/amqp-message.ts';
import type { DeadReason } from '../consumer/delivery.ts';
import type { Outgoing } from '../broker/publisher.ts';
import { DEAD_EXCHANGE } from '../broker/topology.ts';

/** A message that was given up, as an operator reads it. */
export type DeadLetter = {
  message_id: string;
  name: string;
  version: number | null;
  /** The queue it was taken from; it lies in `<queue>.dead`. */
  queue: string;
  /** A DeadReason, or RabbitMQ's own word (`delivery_limit`) when it gave the message up by itself. */
  reason: string;
  /** What the handler threw, shortened; null when RabbitMQ gave it up by itself. */
  error: string | null;
  /** When it first became a dead letter; redriving does not change it. */
  first_seen: string | null;
  request_id: string | null;
  /** The body's text. */
  body: string;
};

/** Enough for the message and the first frames; headers are no place for more. */
const ERROR_LENGTH = 500;

/** The same message with what happened to it in its headers, addressed to the dead queue. */
export function toDeadLetter(
  delivery: ConsumeMessage,
  given: { queue: string; handler: string; reason: DeadReason; error: unknown },
): Outgoing {
  const { error } = given;
  return toOutgoing(delivery, { exchange: DEAD_EXCHANGE, routingKey: given.queue }, rfc3339(new Date()), {
    reason: given.reason,
    error: (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).slice(0, ERROR_LENGTH),
    source_queue: given.queue,
    handler: given.handler,
  });
}

/** The message as it was before, addressed to the queue it came from and to no other. */
export function toRedriven(letter: GetMessage, queue: string): Outgoing {
  return toOutgoing(letter, { exchange: '', routingKey: queue }, deathOf(letter)?.time ?? rfc3339(new Date()), {});
}

export function readDeadLetter(letter: GetMessage, queue: string): DeadLetter {
  const { messageId, type, correlationId } = propertiesOf(letter);
  const { version, reason, error, first_seen } = headersOf(letter);
  const death = deathOf(letter);
  return {
    message_id: textOr(messageId, ''),
    name: textOr(type, ''),
    version: typeof version === 'number' ? version : null,
    queue,
    reason: textOr(reason, death?.reason ?? 'unknown'),
    error: textOr(error, null),
    first_seen: textOr(first_seen, death?.time ?? null),
    request_id: textOr(correlationId, null),
    body: letter.content.toString('utf8'),
  };
}

/** What the sender wrote, without what RabbitMQ and we noted on the way: the count of deliveries begins anew. */
function toOutgoing(
  message: ConsumeMessage | GetMessage,
  { exchange, routingKey }: { exchange: string; routingKey: string },
  now: string,
  notes: Record<string, string>,
): Outgoing {
  const { messageId, correlationId, type, contentType, timestamp } = propertiesOf(message);
  const { version, merchant_id, traceparent, first_seen = now } = headersOf(message);
  return {
    exchange,
    routingKey,
    body: message.content,
    properties: {
      messageId: textOr(messageId, ''),
      correlationId: textOr(correlationId, ''),
      type: textOr(type, ''),
      contentType: textOr(contentType, ''),
      ...(typeof timestamp === 'number' ? { timestamp } : {}),
      headers: { version, merchant_id, ...(typeof traceparent === 'string' && { traceparent }), first_seen, ...notes },
      persistent: true,
      mandatory: true,
    },
  };
}

/** What RabbitMQ notes when it gives a message up by itself. */
function deathOf(letter: GetMessage): { reason: string; time: string | null } | null {
  const [death] = (headersOf(letter)['x-death'] ?? []) as { reason?: unknown; time?: { value?: unknown } }[];
  if (death === undefined) return null;
  const seconds = death.time?.value;
  return {
    reason: textOr(death.reason, 'unknown'),
    time: typeof seconds === 'number' ? rfc3339(new Date(seconds * 1000)) : null,
  };
}

function textOr<T>(value: unknown, otherwise: T): string | T {
  return typeof value === 'string' && value !== '' ? value : otherwise;
}
