/** Claims of new and slow lanes take at most this part of the time. */
const SHARE = 1 / 15;
/** On a machine that is busy beyond measure they still begin this many times more rarely at most. */
const MOST_STRETCH = 10;
/** Lanes whose deliveries have all ended are claimed once more without a result, and must not put off the next one for long. */
const AFTER_NOTHING_MS = 5;

/**
 * How long claims of new and slow lanes begin apart. The longer one takes, the busier is this process, its database or their machine, and
 * the less is left for the quick lanes: each attempt that follows costs far more than its claim.
 * @param everyMs from one attempt to the next where nothing is busy.
 * @param last the claim before: how many deliveries it got, whether there may be more, and how long it and the start of its attempts took.
 */
export function unprovenRestMs(everyMs: number, last: { claimed: number; more: boolean; tookMs: number }): number {
  if (last.claimed === 0 && last.more) return AFTER_NOTHING_MS;
  const stretched = Math.min(last.tookMs / SHARE, MOST_STRETCH * everyMs);
  return Math.max(1, last.claimed) * Math.max(everyMs, stretched);
}
