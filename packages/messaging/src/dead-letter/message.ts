import type { ConsumeMessage, GetMessage } from 'amqplib';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { headersOf, propertiesOf } from '../broker/amqp-message.ts';
import type { Outgoing } from '../broker/publisher.ts';
import { SIGNATURE_HEADER } from '../broker/signature.ts';
import { DEAD_EXCHANGE } from '../broker/topology.ts';

/**
 * Why a consumer made a message a dead letter. `not_signed`: the publisher is not the one that publishes its kind. `retries_exhausted`: it
 * failed up to the delivery limit.
 */
export const DEAD_LETTER_REASONS = ['not_signed', 'invalid_message', 'permanent_error', 'retries_exhausted'] as const;
export type DeadLetterReason = (typeof DEAD_LETTER_REASONS)[number];

/** A dead letter, as an operator reads it. */
export type DeadLetter = {
  message_id: string;
  name: string;
  version: number | null;
  /** The queue it was consumed from; it is in `<queue>.dead`. */
  queue: string;
  /** A DeadLetterReason, or RabbitMQ's own (`delivery_limit`) when it dead-lettered the message by itself. */
  reason: string;
  /** What the handler threw, shortened; null when RabbitMQ dead-lettered it. */
  error: string | null;
  /** When it first became a dead letter; redriving does not change it. */
  first_seen: string | null;
  request_id: string | null;
  /** The body's text. */
  body: string;
};

/** Headers must stay small. */
const ERROR_LENGTH = 500;

/** The message addressed to its dead queue, with the failure in its headers. */
export function toDeadLetter(
  delivery: ConsumeMessage,
  { queue, handler, reason, error }: { queue: string; handler: string; reason: DeadLetterReason; error: unknown },
): Outgoing {
  return toOutgoing(delivery, { exchange: DEAD_EXCHANGE, routingKey: queue }, rfc3339(new Date()), {
    reason,
    error: (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).slice(0, ERROR_LENGTH),
    source_queue: queue,
    handler,
  });
}

/** The original message, addressed to the queue it came from and to no other. */
export function toRedriven(letter: GetMessage, queue: string): Outgoing {
  return toOutgoing(letter, { exchange: '', routingKey: queue }, deathOf(letter)?.time ?? rfc3339(new Date()), {});
}

/**
 * A copy for the end of the queue that a message was consumed from. Its delivery count starts again.
 * @param headers for the next consumer.
 */
export function toRequeued(delivery: ConsumeMessage, queue: string, headers: Record<string, number>): Outgoing {
  return toOutgoing(delivery, { exchange: '', routingKey: queue }, undefined, headers);
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

/** What the sender wrote, without headers added later: the delivery count starts again. */
function toOutgoing(
  message: ConsumeMessage | GetMessage,
  { exchange, routingKey }: { exchange: string; routingKey: string },
  deadSince: string | undefined,
  headers: Record<string, string | number>,
): Outgoing {
  const { messageId, correlationId, type, contentType, timestamp } = propertiesOf(message);
  const {
    version,
    merchant_id,
    traceparent,
    [SIGNATURE_HEADER]: signature,
    first_seen = deadSince,
  } = headersOf(message);
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
      headers: {
        version,
        merchant_id,
        ...(typeof traceparent === 'string' && { traceparent }),
        ...(typeof signature === 'string' && { [SIGNATURE_HEADER]: signature }),
        ...(first_seen !== undefined && { first_seen }),
        ...headers,
      },
      persistent: true,
      mandatory: true,
    },
  };
}

/** RabbitMQ's record when it dead-letters a message itself. */
function deathOf(letter: GetMessage): { reason: string; time: string | null } | null {
  const [death] = (headersOf(letter)['x-death'] ?? []) as { reason?: unknown; time?: { value?: unknown } }[];
  if (death === undefined) return null;
  const seconds = death.time?.value;
  return {
    reason: textOr(death.reason, 'unknown'),
    time: typeof seconds === 'number' ? rfc3339(new Date(seconds * 1000)) : null,
  };
}

function textOr<T>(value: unknown, fallback: T): string | T {
  return typeof value === 'string' && value !== '' ? value : fallback;
}
