import { randomUUID } from 'node:crypto';
import type { MessageDefinition } from '@quittance/contracts/messages.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { type Loop, startLoop } from '@quittance/runtime/loop.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import type { Signer } from '@quittance/runtime/trust.ts';
import type { Broker } from '../broker/broker.ts';
import type { Publisher } from '../broker/publisher.ts';
import { createClaims } from './claims.ts';
import { createRowPublisher } from './publish-rows.ts';

/** One round trip to the database and one wait for confirms per this many messages; larger batches gain nothing measurable. */
const BATCH_SIZE = 500;
/** The maximum number of batches that wait for confirms at the same time. */
const MAX_BATCHES = 3;
/** Longer than a batch can take: claim (7 s at worst) + confirms (15 s) + moving to sent (7 s). A dead relay's rows wait this long. */
const LEASE_SECONDS = 30;

export type SenderOptions = {
  pool: Pool;
  broker: Broker;
  /** Signs published messages; null in a process without a key. */
  signer: Signer | null;
  logger: Logger;
  metrics: Metrics;
  pollMs: number;
};

export type Sender = ReturnType<typeof createSender>;

type Sent = Pick<MessageDefinition<unknown>, 'name' | 'spacingMs'>;

/** Publishes the messages of one name, in batches. */
export function createSender({ name, spacingMs = 0 }: Sent, options: SenderOptions) {
  const { pool, broker, signer, logger, metrics, pollMs } = options;
  const relayId = randomUUID();
  const claims = createClaims(pool, name, { relayId, leaseSeconds: LEASE_SECONDS, limit: BATCH_SIZE });
  const publishRows = createRowPublisher({ pool, logger, relayId, signer });
  const inFlight = createInFlight(MAX_BATCHES);
  /** Null until the first message: most services send few names. */
  let open: { publisher: Publisher; loop: Loop } | null = null;

  async function run(): Promise<{ more: boolean; restMs?: number }> {
    const { publisher } = open ?? {};
    // Claiming now would only keep the rows from a relay that can reach RabbitMQ.
    if (publisher?.ready() !== true) return { more: false };
    await inFlight.room();
    const rows = await claims.claim();
    if (rows.length > 0) inFlight.start(() => publishRows(publisher, rows));
    return { more: claims.isWanted(), restMs: rows.length === 0 || claims.isBehind() ? 0 : spacingMs };
  }

  function wake(what: 'recent' | 'all'): void {
    claims.want(what);
    open ??= {
      publisher: broker.openPublisher(name, () => wake('all')),
      loop: startLoop({ name: `outbox-relay ${name}`, intervalMs: pollMs, logger, metrics, run }),
    };
    open.loop.wake();
  }

  return {
    since: claims.since,
    advance: claims.advance,
    /** See createClaims(). */
    goBack(to: string): void {
      claims.goBack(to);
      wake('all');
    },
    wake,
    async close() {
      await open?.loop.close();
      await inFlight.ended();
      await open?.publisher.close();
    },
  };
}

/** Runs several tasks at the same time, up to a limit. */
export function createInFlight(most: number) {
  const running = new Set<Promise<void>>();
  let failure: { error: unknown } | null = null;
  return {
    /** Waits for a free place. @throws the error of a run that has failed since the last call. */
    async room(): Promise<void> {
      while (running.size >= most) await Promise.race(running);
      if (failure === null) return;
      const { error } = failure;
      failure = null;
      throw error;
    },
    start(run: () => Promise<void>): void {
      const ended = run()
        .catch((error: unknown) => void (failure = { error }))
        .finally(() => running.delete(ended));
      running.add(ended);
    },
    async ended(): Promise<void> {
      await Promise.all(running);
    },
  };
}
