import { type Loop, startLoop } from '@quittance/runtime/loop.ts';
import { bindings } from '../broker/topology.ts';
import { startCleaning } from '../schema/cleaning.ts';
import { createSender, type Sender, type SenderOptions } from './sender.ts';
import { sentMessageRetention, advanceBounds, boundsOfAll, outboxBacklog } from './store.ts';

/** Counting the backlog scans it, so it is not done at every poll. */
const BACKLOG_INTERVAL_MS = 5_000;
const CLEAN_INTERVAL_MS = 60_000;
/** How often the whole outbox is read. A slow read runs less often: it never takes more than a fiftieth of the time. */
const WHOLE_INTERVAL_MS = 60_000;
const WHOLE_SHARE = 50;

export type Relay = {
  /** Looks for messages of this name that were committed just now. */
  wake(name: string): void;
  /** Finishes the batches in flight. */
  close(): Promise<void>;
};

/**
 * Publishes the messages of the outbox in the background, and exports the size of its backlog. Each message name has its own sender, with a
 * loop and a connection to RabbitMQ, so that a queue that refuses, or does not answer, delays no other name.
 */
export function startRelay(options: SenderOptions): Relay {
  const { pool, logger, metrics, pollMs } = options;
  const senders = new Map<string, Sender>();
  for (const { message } of bindings) senders.set(message.name, createSender(message, options));
  const senderOf = (name: string): Sender => {
    const sender = senders.get(name) ?? createSender({ name }, options);
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

/**
 * Reads the whole outbox at the start and then at intervals, for rows that the senders' bounds miss. It has its own loop, because dead rows
 * make it slow.
 */
function startWholeReading(
  { pool, logger, metrics }: SenderOptions,
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

/** A separate loop, because the backlog matters most while the relay waits for a broker. */
function startBacklogGauges({ pool, logger, metrics }: SenderOptions, senders: ReadonlyMap<string, Sender>): Loop {
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
