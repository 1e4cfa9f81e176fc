import { randomUUID } from 'node:crypto';
import type { Pool } from '@quittance/postgres/pool.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { type Loop, startLoop } from '@quittance/runtime/loop.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import type { Broker } from '../broker/broker.ts';
import type { Outgoing, Publisher } from '../broker/publisher.ts';
import { bindings, EXCHANGE } from '../broker/topology.ts';
import { type SendSpan, startSendSpan } from './send-span.ts';
import { startCleaning } from '../schema/cleaning.ts';
import { moveToSent, sentMessageRetention } from './sent-messages.ts';
import { type OutboxRow, advanceBounds, boundsOfAll, claimMessages, outboxBacklog, pauseMessages } from './store.ts';

/** One round trip to the database and one wait for confirms per this many messages; larger batches gain nothing measurable. */
const BATCH_SIZE = 500;
/** Longer than a batch can take: claim (7 s at worst) + confirms (15 s) + moving to sent (7 s). A dead relay's rows wait this long. */
const LEASE_SECONDS = 30;
/** A message that was sent just now is searched among those that became due this recently. */
const RECENT_SECONDS = 2;
/** Counting the backlog scans it, so it is not done at every poll. */
const BACKLOG_INTERVAL_MS = 5_000;
const CLEAN_INTERVAL_MS = 60_000;
/** How often the whole outbox is read, unless that takes long: it never takes more than a fiftieth of the time. */
const WHOLE_INTERVAL_MS = 60_000;
const WHOLE_SHARE = 50;

type RelayOptions = { pool: Pool; broker: Broker; logger: Logger; metrics: Metrics; pollMs: number };

export type Relay = {
  /** Looks for messages of this name that were committed just now. */
  wake(name: string): void;
  /** Finishes the batches in flight. */
  close(): Promise<void>;
};

/**
 * Publishes the messages of the outbox in the background, and exports the size of its backlog. Each message name has a sender: a loop and
 * a connection to RabbitMQ of its own, so that a queue that refuses, or does not answer, holds up no other name.
 */
export function startRelay(options: RelayOptions): Relay {
  const { pool, logger, metrics, pollMs } = options;
  const senders = new Map<string, Sender>();
  for (const { message } of bindings) senders.set(message.name, createSender(message.name, options));
  const senderOf = (name: string): Sender => {
    const sender = senders.get(name) ?? createSender(name, options);
    senders.set(name, sender);
    return sender;
  };
  const bounds = () => Array.from(senders, ([name, sender]) => ({ name, since: sender.since() }));

  const poll = startLoop({
    name: 'outbox-poll',
    intervalMs: pollMs,
    logger,
    metrics,
    run: async () => {
      const before = bounds();
      for (const { name, since, isWaiting, isBehind } of await advanceBounds(pool, before)) {
        const known = before.find((bound) => bound.name === name);
        senderOf(name).advance(known?.since ?? null, since);
        if (isWaiting || isBehind) senderOf(name).wake('all');
      }
      return { more: false };
    },
  });
  const whole = startWholeReading(options, bounds, ({ name, since }) => senderOf(name).goBack(since));
  const cleaning = { name: 'sent-messages-cleaning', intervalMs: CLEAN_INTERVAL_MS, ...sentMessageRetention };
  const loops = [poll, whole, startBacklogGauges(options, senders), startCleaning(options, cleaning)];
  return {
    wake: (name) => senderOf(name).wake('recent'),
    async close() {
      await Promise.all(loops.map((loop) => loop.close()));
      await Promise.all(Array.from(senders.values(), (sender) => sender.close()));
    },
  };
}

type Sender = ReturnType<typeof createSender>;

/** Publishes the messages of one name, in batches. */
function createSender(name: string, options: RelayOptions) {
  const { pool, broker, logger, metrics, pollMs } = options;
  const relayId = randomUUID();
  /** See Bound; null until the outbox was looked at. */
  let since: string | null = null;
  /** What the next run claims. */
  let wanted: 'nothing' | 'recent' | 'all' = 'nothing';
  /** Null until the first message: most services send few names. */
  let open: { publisher: Publisher; loop: Loop } | null = null;

  /** Unless the bound has been moved back meanwhile. */
  function advance(from: string | null, to: string): boolean {
    if (since !== from || to === from) return false;
    since = to;
    return true;
  }

  async function run(): Promise<{ more: boolean }> {
    // Claiming now would only keep the rows from a relay that does reach RabbitMQ.
    if (open?.publisher.ready() !== true) return { more: false };
    if (wanted === 'nothing') return { more: false };
    const isWhole = wanted === 'all';
    wanted = 'nothing';
    const from = since;
    const rows = await claimMessages(pool, {
      name,
      relayId,
      leaseSeconds: LEASE_SECONDS,
      limit: BATCH_SIZE,
      since: from,
      writtenWithin: isWhole ? null : RECENT_SECONDS,
    });
    if (rows.length > 0) await publishRows(open.publisher, rows, relayId, options);
    const more = rows.length === BATCH_SIZE || (isWhole && (await isNextWindowBehind()));
    // What a full batch leaves may no longer be recent by the next one.
    if (more) wanted = 'all';
    return { more };
  }

  /** A backlog is searched window by window, up to what may still be committed. */
  async function isNextWindowBehind(): Promise<boolean> {
    const from = since;
    const [next] = await advanceBounds(pool, [{ name, since: from }]);
    return next !== undefined && advance(from, next.since) && next.isBehind;
  }

  function wake(what: 'recent' | 'all'): void {
    if (wanted !== 'all') wanted = what;
    open ??= {
      publisher: broker.openPublisher(name, () => wake('all')),
      loop: startLoop({ name: `outbox-relay ${name}`, intervalMs: pollMs, logger, metrics, run }),
    };
    open.loop.wake();
  }

  return {
    since: () => since,
    advance,
    /** The bound is before rows that nobody has looked at. */
    goBack(to: string): void {
      since = to;
      wake('all');
    },
    wake,
    async close() {
      await open?.loop.close();
      await open?.publisher.close();
    },
  };
}

/**
 * Publishes a claimed batch, awaits the confirms, and moves what is confirmed to the sent messages. No transaction is open while
 * RabbitMQ is asked. A crash between the last two publishes a message twice, which the receiver's inbox absorbs.
 * Messages of a name usually leave in the order in which they were written, but this is not guaranteed.
 */
async function publishRows(
  publisher: Publisher,
  rows: readonly OutboxRow[],
  relayId: string,
  { pool, logger }: Pick<RelayOptions, 'pool' | 'logger'>,
): Promise<void> {
  const spans = rows.map(startSendSpan);
  const outcomes = await publisher.publish(rows.map((row, index) => toOutgoing(row, spans[index])));
  faultPoint('outbox-published');
  spans.forEach((span, index) => span?.end(outcomes[index]));
  const idsOf = (isConfirmed: boolean): string[] =>
    rows.filter((_, index) => (outcomes[index] === 'confirmed') === isConfirmed).map((row) => row.message_id);
  const [confirmed, unconfirmed] = [idsOf(true), idsOf(false)];
  if (confirmed.length > 0) await moveToSent(pool, confirmed);
  if (unconfirmed.length === 0) return;
  logger.warn(
    { message: rows[0]?.name, unconfirmed: unconfirmed.length, message_id: unconfirmed[0] },
    'RabbitMQ did not confirm every message; trying those again after a pause',
  );
  await pauseMessages(pool, relayId, unconfirmed);
}

/** At the start, and then now and then, for what the senders' bounds pass over. A loop apart, because dead rows make it slow. */
function startWholeReading(
  { pool, logger, metrics }: RelayOptions,
  bounds: () => { name: string; since: string | null }[],
  onFound: (bound: { name: string; since: string }) => void,
): Loop {
  let notBefore = 0;
  return startLoop({
    name: 'outbox-whole-reading',
    intervalMs: WHOLE_INTERVAL_MS,
    logger,
    metrics,
    run: async () => {
      const startedAt = performance.now();
      if (startedAt < notBefore) return { more: false };
      for (const bound of await boundsOfAll(pool, bounds())) onFound(bound);
      const endedAt = performance.now();
      notBefore = endedAt + (endedAt - startedAt) * WHOLE_SHARE;
      return { more: false };
    },
  });
}

/** A loop apart, because the backlog matters most while the relay stands still without a broker. */
function startBacklogGauges({ pool, logger, metrics }: RelayOptions, senders: ReadonlyMap<string, Sender>): Loop {
  const waiting = metrics.gauge(
    'messaging_outbox_waiting',
    'Messages in the outbox, counted up to 100000 of a name',
    [],
  );
  const oldest = metrics.gauge('messaging_outbox_oldest_age_seconds', 'Age of the oldest message in the outbox', []);
  return startLoop({
    name: 'outbox-backlog',
    intervalMs: BACKLOG_INTERVAL_MS,
    logger,
    metrics,
    run: async () => {
      const bounds = Array.from(senders, ([name, sender]) => ({ name, since: sender.since() ?? 'now' }));
      const backlog = await outboxBacklog(pool, bounds);
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
