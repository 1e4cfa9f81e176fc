import type { Channel } from 'amqplib';
import { parseRfc3339, rfc3339 } from '@quittance/runtime/time.ts';
import type { DeadLetter } from './message.ts';
import { newMessageId } from '../broker/message-id.ts';
import type { Outgoing } from '../broker/publisher.ts';

/** Who sends a dead letter back or discards it, and why. */
export type DeadLetterAuthor = { actor: string; reason: string };

/** What was done to one dead letter. Its body is kept, so that what was discarded can still be read. */
export type DeadLetterAction = {
  at: string;
  action: 'redrive' | 'discard';
  actor: string;
  reason: string;
  letter: DeadLetter;
};

/**
 * No service owns the dead queues, so what is done to them is written down beside them, in RabbitMQ: with a publish that is confirmed
 * before the letter leaves its queue. It is a record for people. It lives as long as RabbitMQ's data, and the oldest entries go first.
 */
export const ACTIONS_QUEUE = 'quittance.dead-letter-actions';
export const MOST_ACTIONS = 20_000;
const KEPT_MS = 90 * 24 * 60 * 60 * 1000;

/** Declared by whoever acts or reads, since no service needs it. */
export async function declareActionsQueue(channel: Channel): Promise<void> {
  await channel.assertQueue(ACTIONS_QUEUE, {
    durable: true,
    arguments: {
      'x-queue-type': 'quorum',
      'x-max-length': MOST_ACTIONS,
      'x-message-ttl': KEPT_MS,
      // Reading hands messages out and takes them back; see topology.ts.
      'x-delivery-limit': 1_000_000,
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

/** Which dead letters of a queue are meant; what is absent leaves none out. */
export type DeadLetterChoice = {
  messageId?: string | undefined;
  /** Why it was given up: see DeadLetter.reason. */
  cause?: string | undefined;
  /** The message's name. */
  name?: string | undefined;
  /** First dead at this moment or later, RFC 3339. */
  since?: string | undefined;
  /** First dead before this moment. */
  until?: string | undefined;
};

/** A letter that does not know since when it is dead is as old as can be. */
export function isChosen(letter: DeadLetter, { messageId, cause, name, since, until }: DeadLetterChoice): boolean {
  const deadMs = parseRfc3339(letter.first_seen ?? '')?.getTime() ?? -Infinity;
  return (
    (messageId === undefined || letter.message_id === messageId) &&
    (cause === undefined || letter.reason === cause) &&
    (name === undefined || letter.name === name) &&
    (since === undefined || deadMs >= Date.parse(since)) &&
    (until === undefined || deadMs < Date.parse(until))
  );
}
