/** What was seen of one contender in one cell. Times are on the clock of `machineMs`. */
export type Observed = {
  /** Jobs whose addition was acknowledged, with the time of that. */
  accepted: ReadonlyMap<string, number>;
  /** When each job was done first. */
  done: ReadonlyMap<string, number>;
  /** How often a job was done that had been done before. */
  repeated: number;
  /** Jobs that the contender still has on record at the end. */
  left: number;
  /** Before the disturbance, the load has been steady since `steadyFrom`. */
  steadyFrom: number;
  disturbedFrom: number;
  disturbedUntil: number;
  observedUntil: number;
};

export type Verdict = {
  passed: boolean;
  jobs: number;
  /** Jobs that were not done before the end, and how many of them are no longer on record either. */
  notDone: number;
  lost: number;
  repeated: number;
  /** Jobs that were still on record at the end: those not done, and those whose end was not recorded, which will be done again. */
  left: number;
  /** Jobs done a second before the disturbance. */
  before: number;
  /** The rate of the disturbance as a share of the one before; NaN for a disturbance of a moment. */
  during: number;
  /** Seconds from the end of the disturbance until the rate is back; null if it never came back. */
  rateBackSeconds: number | null;
  /** Seconds from the end of the disturbance until every job added before it is done; null if one is missing. */
  emptySeconds: number | null;
};

const RATE_IS_BACK = 0.9;
/** Loops that are not woken look for work every second, so a shorter window would show their steps. */
const WINDOW_MS = 3_000;
const STEP_MS = 100;
const SHORTEST_DISTURBANCE_MS = 1_000;

/** Passed: every job was done, and the rate came back. A job done twice is counted and passes: all contenders promise at least once. */
export function judge(observed: Observed): Verdict {
  const { accepted, done, repeated, left, steadyFrom, disturbedFrom, disturbedUntil } = observed;
  const times = [...done.values()].sort((a, b) => a - b);
  const before = rateIn(times, steadyFrom, disturbedFrom);
  const notDone = [...accepted.keys()].filter((id) => !done.has(id)).length;
  const lasted = disturbedUntil - disturbedFrom;
  const during = lasted < SHORTEST_DISTURBANCE_MS ? Number.NaN : rateIn(times, disturbedFrom, disturbedUntil) / before;
  const rateBackSeconds = rateBack(times, before, observed);
  return {
    ...{ passed: notDone === 0 && rateBackSeconds !== null, jobs: accepted.size, repeated, left, before, during },
    ...{ notDone, lost: Math.max(0, notDone - left) },
    ...{ rateBackSeconds, emptySeconds: emptied(observed) },
  };
}

const rateIn = (times: readonly number[], from: number, until: number): number =>
  (1_000 * (indexOf(times, until) - indexOf(times, from))) / (until - from);

function rateBack(times: readonly number[], before: number, observed: Observed): number | null {
  const { disturbedUntil, observedUntil } = observed;
  if (!(before > 0)) return null;
  for (let from = disturbedUntil; from + WINDOW_MS <= observedUntil; from += STEP_MS) {
    if (rateIn(times, from, from + WINDOW_MS) >= RATE_IS_BACK * before) return (from - disturbedUntil) / 1_000;
  }
  return null;
}

function emptied({ accepted, done, disturbedUntil }: Observed): number | null {
  let last = disturbedUntil;
  for (const [id, at] of accepted) {
    if (at > disturbedUntil) continue;
    const doneAt = done.get(id);
    if (doneAt === undefined) return null;
    last = Math.max(last, doneAt);
  }
  return (last - disturbedUntil) / 1_000;
}

/** The number of times before `at`, by halving: there may be tens of thousands. */
function indexOf(times: readonly number[], at: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle]! < at) low = middle + 1;
    else high = middle;
  }
  return low;
}
