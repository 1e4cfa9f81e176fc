import type { Channel } from 'amqplib';
import { parseRfc3339 } from '@quittance/contracts/timestamp.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import type { DeadLetter } from './message.ts';
import { newMessageId } from '../broker/amqp-message.ts';
import type { Outgoing } from '../broker/publisher.ts';
import { ACTIONS_QUEUE, READ_DELIVERY_LIMIT } from '../broker/topology.ts';

/** Who redrives or discards a dead letter, and why. */
export type DeadLetterAuthor = { actor: string; reason: string };

/** An audit record. It keeps the letter's body, so that a discarded one can still be read. */
export type DeadLetterAction = {
  at: string;
  action: 'redrive' | 'discard';
  actor: string;
  reason: string;
  letter: DeadLetter;
};

/**
 * No service owns the dead queues, so their audit is a queue too: the record is confirmed before the letter leaves the dead queue. It lasts
 * as long as RabbitMQ's data, and the oldest records are dropped first.
 */
export const MAX_ACTIONS = 20_000;
const RETENTION_MS = 90 * 24 * 60 * 60 * 1000;

/** Declared by the operator's commands: no service needs it. */
export async function declareActionsQueue(channel: Channel): Promise<void> {
  await channel.assertQueue(ACTIONS_QUEUE, {
    durable: true,
    arguments: {
      'x-queue-type': 'quorum',
      'x-max-length': MAX_ACTIONS,
      'x-message-ttl': RETENTION_MS,
      'x-delivery-limit': READ_DELIVERY_LIMIT,
    },
  });
}

export function toAction(
  letter: DeadLetter,
  action: DeadLetterAction['action'],
  { actor, reason }: DeadLetterAuthor,
): Outgoing {
  const entry: DeadLetterAction = { at: rfc3339(new Date()), action, actor, reason, letter };
  return {
    exchange: '',
    routingKey: ACTIONS_QUEUE,
    body: Buffer.from(JSON.stringify(entry)),
    properties: {
      messageId: newMessageId(),
      type: 'DeadLetterAction',
      contentType: 'application/json',
      persistent: true,
      mandatory: true,
    },
  };
}

/** Selects dead letters of a queue; an absent member selects all. */
export type DeadLetterFilter = {
  messageId?: string | undefined;
  /** See DeadLetter.reason. */
  cause?: string | undefined;
  /** The message's name. */
  name?: string | undefined;
  /** Dead since this time or later, RFC 3339. */
  since?: string | undefined;
  /** Dead since before this time. */
  until?: string | undefined;
};

/** A letter without a time counts as the oldest. */
export function isSelected(letter: DeadLetter, { messageId, cause, name, since, until }: DeadLetterFilter): boolean {
  const deadMs = parseRfc3339(letter.first_seen ?? '')?.getTime() ?? -Infinity;
  return (
    (messageId === undefined || letter.message_id === messageId) &&
    (cause === undefined || letter.reason === cause) &&
    (name === undefined || letter.name === name) &&
    (since === undefined || deadMs >= Date.parse(since)) &&
    (until === undefined || deadMs < Date.parse(until))
  );
}
