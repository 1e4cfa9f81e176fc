import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import type { Expectation } from '@quittance/chain-reader/chain/expected.ts';
import type { LookSchedule } from './look-schedule.ts';

export type Pace = ReturnType<typeof createPace>;

/** Without a look at the head for so many of the longest pauses, there may be any number of blocks. */
const OUT_OF_TOUCH_AFTER = 3;

/**
 * When to look at a network that sleeps while nobody waits on it: by the schedule, or in a while.
 * @param now monotonic milliseconds.
 */
export function createPace(
  schedule: LookSchedule,
  { asleep_poll_interval_ms: asleepMs }: Pick<ChainNetwork, 'asleep_poll_interval_ms'>,
  now: () => number = () => performance.now(),
) {
  let isAwake = true;
  let asleepUntil = Number.NEGATIVE_INFINITY;
  let lastAtHeadAt = Number.NEGATIVE_INFINITY;
  return {
    isAwake: () => isAwake,
    /** Whether somebody waits. If so, a network that slept is looked at now. */
    setAwake(next: boolean): void {
      if (next && !isAwake) schedule.resume();
      // Whatever was not read yet is read first.
      if (!next && isAwake) asleepUntil = now() + schedule.dueInMs();
      isAwake = next;
    },
    /** Milliseconds until the next look; 0 when it is due. */
    dueInMs: () => (isAwake ? schedule.dueInMs() : Math.max(0, asleepUntil - now())),
    /** Whether the chain's next blocks are foreseen. */
    isSteady: () => !isAwake || schedule.isSteady(),
    expects(): Expectation {
      if (now() - lastAtHeadAt > OUT_OF_TOUCH_AFTER * asleepMs) return 'perhaps none';
      return isAwake ? schedule.expects() : 'several';
    },
    /** An endpoint has announced a block. @param hash the block's, if the announcement names it. */
    announced(hash: string | null): void {
      if (isAwake) schedule.announced(hash);
    },
    /** As in createLookSchedule(). */
    looked(startedAt: number, isAtHead: boolean): void {
      if (isAtHead) lastAtHeadAt = startedAt;
      if (isAwake) schedule.looked(startedAt, isAtHead);
      else asleepUntil = isAtHead ? now() + asleepMs : now();
    },
  };
}
