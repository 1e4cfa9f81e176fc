import type { ConsumeMessage } from 'amqplib';
import { InvalidMessage } from '@quittance/contracts/message.ts';
import { readTraceparent } from '@quittance/runtime/tracing/tracing.ts';
import { headersOf, propertiesOf } from '../broker/amqp-message.ts';
import type { Handler, DecodedMessage } from './handler.ts';
import { isMessageId } from '../broker/message-id.ts';

/** Why a message became a dead letter. `retries_exhausted`: it failed up to the delivery limit. */
export const DEAD_REASONS = ['invalid_message', 'permanent_error', 'retries_exhausted'] as const;
export type DeadReason = (typeof DEAD_REASONS)[number];

/** What a delivery came to. `left`: the process is stopping; unsettled, the message goes back to its queue. */
export type Result =
  | { result: 'done' | 'duplicate' | 'left' }
  | { result: 'failed'; error: unknown }
  | { result: 'dead'; reason: DeadReason; error: unknown };

export const RESULTS = ['done', 'duplicate', 'left', 'failed', 'dead'] as const satisfies Result['result'][];

/** The request that caused the message; a message that names none is the beginning of its own story. */
export function requestIdOf(delivery: ConsumeMessage): string {
  const { messageId, correlationId } = propertiesOf(delivery);
  return typeof correlationId === 'string' && correlationId !== '' ? correlationId : String(messageId);
}

/** @throws InvalidMessage for everything that the same bytes would meet again. */
export function decode(delivery: ConsumeMessage, { message }: Handler): DecodedMessage {
  const { messageId } = propertiesOf(delivery);
  if (!isMessageId(messageId)) throw new InvalidMessage('The message id is not a UUID');
  const { version } = headersOf(delivery);
  if (typeof version !== 'number' || version > message.version) {
    throw new InvalidMessage(`${message.name}: version ${String(version)} is not one of 1 to ${message.version}`);
  }
  const value = message.parse(parseJson(delivery.content, message.name));
  return {
    payload: value,
    messageId,
    requestId: requestIdOf(delivery),
    traceparent: readTraceparent(headersOf(delivery)['traceparent']),
  };
}

/** When it was said; a message that does not tell was said just now. */
export function publishedAt(delivery: ConsumeMessage): Date {
  const { timestamp } = propertiesOf(delivery);
  return typeof timestamp === 'number' ? new Date(timestamp * 1000) : new Date();
}

function parseJson(content: Buffer, name: string): unknown {
  try {
    return JSON.parse(content.toString('utf8'));
  } catch (error) {
    throw new InvalidMessage(`${name}: the body is not JSON`, { cause: error });
  }
}

/**
 * How often this message was handed out before. RabbitMQ before 4.3 counts a lost connection as a delivery, 4.3 and later
 * keep that apart as "acquired"; taking the larger one gives up after the same number everywhere, crashes included.
 */
export function failuresBefore(delivery: ConsumeMessage): number {
  const { headers } = delivery.properties;
  const counts = [headers?.['x-delivery-count'], headers?.['x-acquired-count']]
    .map(Number)
    .filter(Number.isSafeInteger);
  return Math.max(0, ...counts);
}
