import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { type Backoff, backoffMs, pause } from '@quittance/runtime/concurrency/backoff.ts';
import type { Handler, DecodedMessage } from './handler.ts';
import { enterInbox } from './inbox.ts';

export type DeliveryTiming = {
  /** Pauses while the database can't be reached. */
  unavailable: Backoff;
  /** How long a message is held for that; below the 30 minutes after which RabbitMQ takes an unsettled message back. */
  holdMs: number;
  /** Pauses before a message whose handler failed goes back to its queue. */
  failed: Backoff;
};

export const defaultTiming: DeliveryTiming = {
  unavailable: { firstMs: 100, maxMs: 5_000 },
  holdMs: 10 * 60_000,
  failed: { firstMs: 250, maxMs: 30_000 },
};

export type EffectContext = {
  pool: Pool;
  handler: Handler;
  timing: DeliveryTiming;
  stopping: AbortSignal;
  logger: Logger;
  /** Seconds of one try, by handler. */
  duration: ReturnType<Metrics['histogram']>;
};

/** What came of a message in a transaction that committed. */
export type Effect = 'done' | 'duplicate';

/**
 * Inbox rows and effect of these messages in one transaction, tried once.
 * @returns each with what it came to. Of two copies of one message the first is done.
 */
export async function takeEffect<T extends { heard: DecodedMessage }>(
  batch: readonly T[],
  { pool, handler, stopping, logger, duration }: EffectContext,
): Promise<[T, Effect][]> {
  stopping.throwIfAborted();
  const messageIds = batch.map(({ heard }) => heard.messageId);
  const about = batch.length === 1 ? { message_id: messageIds[0] } : { messages: batch.length };
  const end = duration.startTimer({ handler: handler.name });
  return await transaction(pool, async (tx) => {
    const entered = await enterInbox(tx, handler.name, messageIds);
    const effects = batch.map((one): [T, Effect] => [one, entered.delete(one.heard.messageId) ? 'done' : 'duplicate']);
    const news = effects.flatMap(([{ heard }, effect]) => (effect === 'done' ? [heard] : []));
    if (news.length > 0) {
      await handler.handle(news, { tx, logger: logger.child({ handler: handler.name, ...about }) });
      faultPoint('message-handled');
    }
    return effects;
  }).finally(end);
}

/**
 * Tries again, with pauses, as long as `isHeld` says so of the error. While the database can't be reached messages are held, so
 * that an outage of ours counts against none. The hold is bounded because some errors only look like an outage, such as a
 * statement that is always too slow.
 * @param sinceMs performance.now() when the oldest message came.
 * @throws what the last try threw.
 */
export async function holding<T>(
  { sinceMs, isHeld }: { sinceMs: number; isHeld: (error: unknown) => boolean },
  { handler, timing, stopping, logger }: EffectContext,
  run: () => Promise<T>,
): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      const heldMs = Math.round(performance.now() - sinceMs);
      if (!isHeld(error) || heldMs > timing.holdMs) throw error;
      const retryMs = Math.round(backoffMs(attempt, timing.unavailable));
      logger.warn(
        { error, handler: handler.name, held_ms: heldMs, retry_ms: retryMs },
        'The database is not available; holding what came',
      );
      await pause(retryMs, stopping);
      if (stopping.aborted) throw error;
    }
  }
}
