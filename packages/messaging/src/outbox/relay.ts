import { randomUUID } from 'node:crypto';
import type { Pool } from '@quittance/postgres/pool.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { type Loop, startLoop } from '@quittance/runtime/loop.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import type { Broker } from '../broker/broker.ts';
import { type OutboxRow, claimMessages, outboxBacklog, releaseMessages } from './store.ts';
import type { Outgoing } from '../broker/publisher.ts';
import { moveToSent, startSentCleaning } from './sent-messages.ts';
import { type Sending, startSending } from '../spans.ts';
import { EXCHANGE } from '../broker/topology.ts';

/** One round trip to the database and one wait for confirms per this many messages; larger ones gain nothing measurable. */
const BATCH_SIZE = 500;
/** Longer than a batch can take: claim (7 s at worst) + confirms (15 s) + putting away (7 s). A dead relay's rows wait this long. */
const LEASE_SECONDS = 30;
/** Between two looks at everything, only what was written this recently is looked for. */
const RECENT_SECONDS = 2;
/** Counting the backlog costs a scan of it, so it is not done at every poll. */
const BACKLOG_INTERVAL_MS = 5_000;

/**
 * Sends what lies in the outbox: claim a batch, publish it, await the confirms, put it away. No transaction is open while
 * RabbitMQ is asked. A crash between the last two sends a message twice; the inbox of the receiver absorbs that.
 * Messages leave in the order they were written as a rule, not as a promise.
 */
export function startRelay(options: {
  pool: Pool;
  broker: Broker;
  logger: Logger;
  metrics: Metrics;
  pollMs: number;
}): Loop {
  const { pool, broker, logger, metrics } = options;
  const relayId = randomUUID();
  let allSeenAt = -Infinity;

  /** Everything once in a poll's time, and as long as there is a backlog; in between, what a wake is about. */
  async function claim(): Promise<OutboxRow[]> {
    const now = performance.now();
    const all = now - allSeenAt >= options.pollMs;
    const rows = await claimMessages(pool, {
      relayId,
      leaseSeconds: LEASE_SECONDS,
      limit: BATCH_SIZE,
      writtenWithin: all ? null : RECENT_SECONDS,
    });
    if (all && rows.length < BATCH_SIZE) allSeenAt = now;
    return rows;
  }

  const relay = startLoop({
    name: 'outbox-relay',
    intervalMs: options.pollMs,
    logger,
    metrics,
    run: async () => {
      // Claiming now would only keep the rows from a relay that does reach RabbitMQ.
      if (!broker.canPublish()) return { more: false };
      const rows = await claim();
      if (rows.length === 0) return { more: false };
      const sendings = rows.map(startSending);
      const outcomes = await broker.publish(rows.map((row, index) => toOutgoing(row, sendings[index])));
      faultPoint('outbox-published');
      sendings.forEach((sending, index) => sending?.end(outcomes[index]));
      const confirmed = rows.filter((_, index) => outcomes[index] === 'confirmed').map((row) => row.message_id);
      const unsent = rows.filter((_, index) => outcomes[index] !== 'confirmed').map((row) => row.message_id);
      await moveToSent(pool, confirmed);
      if (unsent.length === 0) return { more: rows.length === BATCH_SIZE };
      logger.warn(
        { unsent: unsent.length, message_id: unsent[0] },
        'RabbitMQ did not take every message; trying again',
      );
      await releaseMessages(pool, relayId, unsent);
      return { more: false };
    },
  });
  broker.onCanPublish(() => relay.wake());

  const backlog = startBacklogGauges({ pool, logger, metrics });
  const cleaning = startSentCleaning({ pool, logger, metrics });
  return {
    wake: () => relay.wake(),
    async close() {
      await Promise.all([relay.close(), backlog.close(), cleaning.close()]);
    },
  };
}

/** A loop of its own, because the backlog matters most while the relay has nothing to do for want of a broker. */
function startBacklogGauges({ pool, logger, metrics }: { pool: Pool; logger: Logger; metrics: Metrics }): Loop {
  const waiting = metrics.gauge('messaging_outbox_waiting', 'Messages in the outbox, counted up to 100000', []);
  const oldest = metrics.gauge('messaging_outbox_oldest_age_seconds', 'Age of the oldest message in the outbox', []);
  return startLoop({
    name: 'outbox-backlog',
    intervalMs: BACKLOG_INTERVAL_MS,
    logger,
    metrics,
    run: async () => {
      const backlog = await outboxBacklog(pool);
      waiting.set(backlog.waiting);
      oldest.set(backlog.oldestSeconds);
      return { more: false };
    },
  });
}

function toOutgoing(row: OutboxRow, sending: Sending | undefined): Outgoing {
  const traceparent = sending?.traceparent ?? row.traceparent;
  return {
    exchange: EXCHANGE,
    routingKey: row.name,
    body: Buffer.from(row.body),
    properties: {
      messageId: row.message_id,
      correlationId: row.request_id,
      type: row.name,
      headers: { version: row.version, merchant_id: row.merchant_id, ...(traceparent !== null && { traceparent }) },
      contentType: 'application/json',
      // Seconds, as AMQP has it.
      timestamp: Math.floor(row.created_at.getTime() / 1000),
      persistent: true,
      // The topology gives every message a queue. Should somebody have deleted it, the message comes back instead of
      // being dropped, stays in the outbox, and the publisher declares the queue again.
      mandatory: true,
    },
  };
}
