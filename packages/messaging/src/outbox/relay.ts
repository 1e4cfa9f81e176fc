import { randomUUID } from 'node:crypto';
import type { Pool } from '@quittance/postgres/pool.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import { type Loop, type LoopContext, startLoop } from '@quittance/runtime/loop.ts';
import type { Broker } from '../broker/broker.ts';
import type { Outgoing } from '../broker/publisher.ts';
import { EXCHANGE } from '../broker/topology.ts';
import { type SendSpan, startSendSpan } from './send-span.ts';
import { startCleaning } from '../schema/cleaning.ts';
import { moveToSent, sentMessageRetention } from './sent-messages.ts';
import { type OutboxRow, claimMessages, outboxBacklog, releaseMessages } from './store.ts';

/** One round trip to the database and one wait for confirms per this many messages; larger batches gain nothing measurable. */
const BATCH_SIZE = 500;
/** Longer than a batch can take: claim (7 s at worst) + confirms (15 s) + moving to sent (7 s). A dead relay's rows wait this long. */
const LEASE_SECONDS = 30;
/** Between two polls of the whole outbox, only rows written this recently are claimed. */
const RECENT_SECONDS = 2;
/** Counting the backlog scans it, so it is not done at every poll. */
const BACKLOG_INTERVAL_MS = 5_000;
const CLEAN_INTERVAL_MS = 60_000;

type RelayOptions = LoopContext & { pool: Pool; broker: Broker; pollMs: number };

/** Publishes the messages of the outbox in the background, and exports the size of its backlog. */
export function startRelay(options: RelayOptions): Loop {
  const { broker, logger, metrics, pollMs } = options;
  const claims = createClaims(options);
  const relay = startLoop({
    name: 'outbox-relay',
    intervalMs: pollMs,
    logger,
    metrics,
    run: async () => ({ more: await relayBatch(claims, options) }),
  });
  broker.onCanPublish(() => relay.wake());
  const cleaning = { name: 'sent-messages-cleaning', intervalMs: CLEAN_INTERVAL_MS, ...sentMessageRetention };
  const loops = [relay, startBacklogGauges(options), startCleaning(options, cleaning)];
  return {
    wake: () => relay.wake(),
    async close() {
      await Promise.all(loops.map((loop) => loop.close()));
    },
  };
}

/**
 * Claim a batch, publish it, await the confirms, move what is confirmed to the sent messages. No transaction is open while RabbitMQ
 * is asked. A crash between the last two publishes a message twice, which the receiver's inbox absorbs.
 * Messages usually leave in the order in which they were written, but this is not guaranteed.
 * @returns whether more rows may wait.
 */
async function relayBatch({ claim, release }: Claims, { pool, broker, logger }: RelayOptions): Promise<boolean> {
  // Claiming now would only keep the rows from a relay that does reach RabbitMQ.
  if (!broker.canPublish()) return false;
  const rows = await claim();
  if (rows.length === 0) return false;
  const spans = rows.map(startSendSpan);
  const outcomes = await broker.publish(rows.map((row, index) => toOutgoing(row, spans[index])));
  faultPoint('outbox-published');
  spans.forEach((span, index) => span?.end(outcomes[index]));
  const idsOf = (isConfirmed: boolean): string[] =>
    rows.filter((_, index) => (outcomes[index] === 'confirmed') === isConfirmed).map((row) => row.message_id);
  const unconfirmed = idsOf(false);
  await moveToSent(pool, idsOf(true));
  if (unconfirmed.length === 0) return rows.length === BATCH_SIZE;
  logger.warn(
    { unconfirmed: unconfirmed.length, message_id: unconfirmed[0] },
    'RabbitMQ did not confirm every message; trying again',
  );
  await release(unconfirmed);
  return false;
}

type Claims = ReturnType<typeof createClaims>;

function createClaims({ pool, pollMs }: RelayOptions) {
  const relayId = randomUUID();
  let allClaimedAt = -Infinity;
  return {
    /** The whole outbox once per poll, and as long as there is a backlog; in between, only the rows that a wake announced. */
    async claim(): Promise<OutboxRow[]> {
      const now = performance.now();
      const isPoll = now - allClaimedAt >= pollMs;
      const rows = await claimMessages(pool, {
        relayId,
        leaseSeconds: LEASE_SECONDS,
        limit: BATCH_SIZE,
        writtenWithin: isPoll ? null : RECENT_SECONDS,
      });
      if (isPoll && rows.length < BATCH_SIZE) allClaimedAt = now;
      return rows;
    },
    release: (messageIds: readonly string[]) => releaseMessages(pool, relayId, messageIds),
  };
}

/** A loop apart, because the backlog matters most while the relay stands still without a broker. */
function startBacklogGauges({ pool, logger, metrics }: RelayOptions): Loop {
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

function toOutgoing(row: OutboxRow, span: SendSpan | undefined): Outgoing {
  const traceparent = span?.traceparent ?? row.traceparent;
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
      // The topology gives every message a queue. If it was deleted, the message is returned instead of dropped, stays in
      // the outbox, and the publisher declares the queue again.
      mandatory: true,
    },
  };
}
