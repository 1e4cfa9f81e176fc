import { setTimeout as sleep } from 'node:timers/promises';
import { isUnavailable, leavesConnectionUsable } from '@quittance/postgres/errors.ts';
import type { Logger } from '@quittance/runtime/logger.ts';

/** Writes outcomes down in batches: one by one, the commits would be the bottleneck. */
export type OutcomeWriter<O> = {
  /** Resolves once the outcome is written, or was given up because it can never be. */
  write(outcome: O): Promise<void>;
};

/** Each further one in a batch costs less, and it is still a short transaction. */
const MAX_BATCH = 256;
const RETRY_MS = 250;

type Waiting<O> = { outcome: O; done: () => void };

/**
 * While one batch is being written the next one gathers; nothing waits for a timer. An outcome cannot be had again, so a database
 * that is away is waited for. What waits is bounded by the caller, who keeps the attempt's place until its outcome is settled.
 * @param options.write writes all the outcomes or none.
 */
export function createOutcomeWriter<O>(options: {
  write: (outcomes: readonly O[]) => Promise<void>;
  logger: Logger;
}): OutcomeWriter<O> {
  const { write, logger } = options;
  const waiting: Waiting<O>[] = [];
  let writing = false;

  async function writeAll(): Promise<void> {
    writing = true;
    while (waiting.length > 0) await writeBatch(waiting.splice(0, MAX_BATCH));
    writing = false;
  }

  async function writeBatch(batch: Waiting<O>[]): Promise<void> {
    try {
      await write(batch.map(({ outcome }) => outcome));
    } catch (error) {
      // One of them may be at fault, or wait for a lock that is held for long; the others must not be delayed by it.
      if (batch.length > 1 && leavesConnectionUsable(error)) {
        for (const single of batch) await writeBatch([single]);
        return;
      }
      if (isUnavailable(error)) {
        logger.warn({ error, outcomes: batch.length }, 'outcomes could not be written yet');
        await sleep(RETRY_MS);
        waiting.push(...batch);
        return;
      }
      logger.error({ error, outcome: batch[0]?.outcome }, 'an outcome cannot be written; its lease will lapse');
    }
    for (const { done } of batch) done();
  }

  return {
    write: (outcome) =>
      new Promise((resolve) => {
        waiting.push({ outcome, done: resolve });
        if (!writing) void writeAll();
      }),
  };
}
