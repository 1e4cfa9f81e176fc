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
import { type HandedOver, createHandedOver } from './handed-over.ts';
import { createInFlight } from './in-flight.ts';
import { createRowPublisher } from './publish-rows.ts';
import { type Lease, type OutboxRow, releaseMessages } from './store.ts';

/** One round trip to the database and one wait for confirms per this many messages; larger batches gain nothing measurable. */
const BATCH_SIZE = 500;
/** The maximum number of batches that wait for confirms at the same time. */
const MAX_BATCHES = 3;
/** Longer than a batch can take: claim (7 s at worst) + confirms (15 s) + moving to sent (7 s). A dead relay's rows wait this long. */
const LEASE_SECONDS = 30;
/** For this long after a row was written under the relay's own lease, the lease still lasts long enough for a batch. */
const HANDED_OVER_MS = 7_000;
/** As many as a large transaction writes. Further rows are claimed, so that memory is bounded. */
const MAX_HANDED_OVER = 20_000;

export type SenderOptions = {
  pool: Pool;
  broker: Broker;
  /** Signs published messages; null in a process without a key. */
  signer: Signer | null;
  logger: Logger;
  metrics: Metrics;
  pollMs: number;
};

/** How rows get to a sender without a claim: they are written under its lease, and passed to it after the commit. */
export type HandOver = { lease: Lease; publish(rows: readonly OutboxRow[]): void };

export type Sender = ReturnType<typeof createSender>;

type Sent = Pick<MessageDefinition<unknown>, 'name' | 'spacingMs'>;

/** Publishes the messages of one name, in batches: those written by this process when they are committed, others when it claims them. */
export function createSender({ name, spacingMs = 0 }: Sent, options: SenderOptions) {
  const { pool, broker, signer, logger, metrics, pollMs } = options;
  const lease: Lease = { relayId: randomUUID(), seconds: LEASE_SECONDS };
  const claims = createClaims(pool, name, { lease, limit: BATCH_SIZE });
  const publishRows = createRowPublisher({ pool, logger, relayId: lease.relayId, signer });
  const handedOver = createHandedOver(MAX_HANDED_OVER);
  const inFlight = createInFlight(MAX_BATCHES);
  /** Null until the first message: most services send few names. */
  let open: { publisher: Publisher; loop: Loop } | null = null;

  async function run(): Promise<{ more: boolean; restMs?: number }> {
    const { publisher } = open ?? {};
    // Claiming now would only keep the rows from a relay that can reach RabbitMQ.
    if (publisher?.ready() !== true) {
      await release(handedOver.takeAll());
      return { more: false };
    }
    await inFlight.room();
    await release(handedOver.takeLate());
    const batches = [await claims.claim(), handedOver.take(BATCH_SIZE)].filter((rows) => rows.length > 0);
    for (const rows of batches) inFlight.start(() => publishRows(publisher, rows));
    const isBacklog = claims.isBehind() || !handedOver.isEmpty();
    const restMs = batches.length === 0 || isBacklog ? 0 : spacingMs;
    return { more: isBacklog || claims.isWanted(), restMs };
  }

  /** Releases rows written under our own lease, so that any relay may send them now. */
  async function release(rows: readonly OutboxRow[]): Promise<void> {
    if (rows.length === 0) return;
    claims.want('all');
    const ids = rows.map((row) => row.message_id);
    await releaseMessages(pool, lease.relayId, ids);
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
    /** For this many rows that are about to be written. @returns null when they have to be claimed. */
    offer(count: number): HandOver | null {
      if (open?.publisher.ready() !== true || claims.isBehind() || !handedOver.hasRoomFor(count)) return null;
      const { loop } = open;
      return handOverTo(handedOver, lease, () => loop.wake());
    },
    async close() {
      await open?.loop.close();
      await inFlight.ended();
      await release(handedOver.takeAll()).catch((error: unknown) =>
        logger.warn({ error, message: name }, 'unsent messages are retried when their lease ends'),
      );
      await open?.publisher.close();
    },
  };
}

function handOverTo(handedOver: HandedOver, lease: Lease, wake: () => void): HandOver {
  const until = performance.now() + HANDED_OVER_MS;
  return {
    lease,
    publish(rows) {
      handedOver.add(rows, until);
      wake();
    },
  };
}
