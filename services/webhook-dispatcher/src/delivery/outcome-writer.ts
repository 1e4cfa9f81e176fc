import { setTimeout as sleep } from 'node:timers/promises';
import { isUnavailable, leavesConnectionUsable } from '@quittance/postgres/errors.ts';
import { createMicroBatcher } from '@quittance/runtime/concurrency/micro-batch.ts';
import type { Logger } from '@quittance/runtime/logger.ts';

/** Each further one in a batch costs less, and it is still a short transaction. */
const MAX_BATCH = 256;
const RETRY_MS = 250;

/**
 * Stores outcomes in batches: one by one, the commits would be the bottleneck. An outcome cannot be produced again, so a database that is
 * away is waited for. The caller bounds what waits: it keeps the attempt's place until its outcome is stored.
 * @param options.write writes all the outcomes or none.
 * @returns resolves once its outcome is written, or abandoned because it never can be.
 */
export function createOutcomeWriter<O>(options: {
  write: (outcomes: readonly O[]) => Promise<void>;
  logger: Logger;
}): (outcome: O) => Promise<void> {
  const { write, logger } = options;
  const add = createMicroBatcher({ maxSize: MAX_BATCH, run: writeBatch });

  async function writeBatch(batch: readonly O[]): Promise<(Promise<void> | undefined)[]> {
    try {
      await write(batch);
    } catch (error) {
      // One of them may be at fault, or wait for a lock that is held for long; the others must not be delayed by it.
      if (batch.length > 1 && leavesConnectionUsable(error)) {
        const results: (Promise<void> | undefined)[] = [];
        for (const outcome of batch) results.push(...(await writeBatch([outcome])));
        return results;
      }
      if (isUnavailable(error)) {
        logger.warn({ error, outcomes: batch.length }, 'outcomes could not be written yet');
        await sleep(RETRY_MS);
        return batch.map(add);
      }
      logger.error({ error, outcome: batch[0] }, 'an outcome cannot be written; its lease will lapse');
    }
    return batch.map(() => undefined);
  }

  return add;
}
