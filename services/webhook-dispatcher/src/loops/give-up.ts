import type { Pool } from '@quittance/postgres/pool.ts';
import { type Loop, type LoopContext, startLoop } from '@quittance/runtime/loop.ts';
import { giveUpAfterSeconds } from '../delivery/retry-schedule.ts';
import { GIVE_UP_BATCH, giveUpDeliveries } from '../store/give-up.ts';

const INTERVAL_MS = 60_000;

/** Gives up what waits for a receiver that has been dead for longer than all retries together would have taken. */
export function startGiveUpLoop(context: LoopContext & { pool: Pool; retryDelaysSeconds: readonly number[] }): Loop {
  const { pool, retryDelaysSeconds, logger, metrics } = context;
  const givenUp = metrics.counter(
    'webhook_given_up_events_total',
    'Events failed because their receiver stayed dead while their attempts were spared',
  );
  const afterSeconds = giveUpAfterSeconds(retryDelaysSeconds);
  const run = async () => {
    const count = await giveUpDeliveries(pool, afterSeconds);
    givenUp.inc(count);
    if (count > 0) logger.warn({ events: count, after_seconds: afterSeconds }, 'events of dead receivers given up');
    return { more: count === GIVE_UP_BATCH };
  };
  return startLoop({ name: 'give-up', intervalMs: INTERVAL_MS, logger, metrics, run });
}
