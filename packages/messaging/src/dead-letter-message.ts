import type { ConsumeMessage, GetMessage } from 'amqplib';
import { rfc3339 } from '@quittance/runtime/time.ts';
import type { DeadReason } from './delivery.ts';
import type { Outgoing } from './publisher.ts';
import { DEAD_EXCHANGE } from './topology.ts';

/** A message that was given up, as an operator reads it. */
export type DeadLetter = {
  message_id: string;
  name: string;
  version: number | null;
  /** The queue it was taken from; it lies in `<queue>.dead`. */
  queue: string;
  /** `delivery_limit` and the like when RabbitMQ gave it up by itself. */
  reason: DeadReason | string;
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
  const outgoing = toOutgoing(delivery, { exchange: DEAD_EXCHANGE, routingKey: given.queue });
  const { error } = given;
  Object.assign(outgoing.properties.headers, {
    reason: given.reason,
    error: (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).slice(0, ERROR_LENGTH),
    source_queue: given.queue,
    handler: given.handler,
  });
  outgoing.properties.headers.first_seen ??= rfc3339(new Date());
  return outgoing;
}

/** The message as it was before, addressed to the queue it came from and to no other. */
export function toRedriven(letter: GetMessage, queue: string): Outgoing {
  const outgoing = toOutgoing(letter, { exchange: '', routingKey: queue });
  outgoing.properties.headers.first_seen ??= deathOf(letter)?.time ?? rfc3339(new Date());
  return outgoing;
}

/** What the sender wrote, without what RabbitMQ and we noted on the way: the count of deliveries begins anew. */
function toOutgoing(
  { content, properties }: ConsumeMessage | GetMessage,
  { exchange, routingKey }: { exchange: string; routingKey: string },
): Outgoing & { properties: { headers: Record<string, unknown> } } {
  const { version, merchant_id, first_seen } = (properties.headers ?? {}) as Record<string, unknown>;
  const headers = Object.entries({ version, merchant_id, first_seen }).filter(([, value]) => value !== undefined);
  return {
    exchange,
    routingKey,
    body: content,
    properties: {
      messageId: properties.messageId,
      correlationId: properties.correlationId,
      type: properties.type,
      contentType: properties.contentType,
      timestamp: properties.timestamp,
      headers: Object.fromEntries(headers),
      persistent: true,
      mandatory: true,
    },
  };
}

export function readDeadLetter(letter: GetMessage, queue: string): DeadLetter {
  const {
    messageId,
    type,
    correlationId,
    headers = {},
  } = letter.properties as GetMessage['properties'] & {
    headers?: Record<string, unknown>;
  };
  const death = deathOf(letter);
  return {
    message_id: textOr(messageId, ''),
    name: textOr(type, ''),
    version: typeof headers.version === 'number' ? headers.version : null,
    queue,
    reason: textOr(headers.reason, death?.reason ?? 'unknown'),
    error: textOr(headers.error, null),
    first_seen: textOr(headers.first_seen, death?.time ?? null),
    request_id: textOr(correlationId, null),
    body: letter.content.toString('utf8'),
  };
}

/** What RabbitMQ notes when it gives a message up by itself. */
function deathOf({ properties }: GetMessage): { reason: string; time: string | null } | null {
  const [death] = (properties.headers?.['x-death'] ?? []) as { reason?: unknown; time?: { value?: unknown } }[];
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
