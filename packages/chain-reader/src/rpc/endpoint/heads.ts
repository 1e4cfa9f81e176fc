/** The block that an endpoint names its head. Nothing but the choice of whom to ask rests on it. */
export type Head = {
  number: number;
  /** Unix seconds. */
  timestamp: number;
};

/** As much of an endpoint as decides whether another one lags behind it. */
export type HeadClaim = {
  /** Null before the first one was heard. */
  head: Head | null;
  /** Whether what it claims may make others look late. */
  isCredible: boolean;
};

/** An endpoint lags when it is behind by more than both: blocks come every quarter of a second on one chain, every twelve on another. */
const MAX_LAG_BLOCKS = 3;
const MAX_LAG_SECONDS = 15;

/** The furthest head that is credible. */
export function bestHead(claims: readonly HeadClaim[]): Head | null {
  const heads = claims.flatMap(({ head, isCredible }) => (head !== null && isCredible ? [head] : []));
  return heads.reduce<Head | null>((best, head) => (best === null || head.number > best.number ? head : best), null);
}

export function lagBlocks(head: Head | null, best: Head | null): number {
  return head === null || best === null ? 0 : Math.max(0, best.number - head.number);
}

export function lags(head: Head | null, best: Head | null): boolean {
  if (head === null || best === null) return false;
  return lagBlocks(head, best) > MAX_LAG_BLOCKS && best.timestamp - head.timestamp > MAX_LAG_SECONDS;
}

/** How far an endpoint's word about its head goes. */
export type Credit = {
  isGood(): boolean;
  /** A read followed the head that the endpoint named, and came to an end. */
  gain(): void;
  /** A read followed the head that the endpoint named, and the endpoint could not show the blocks. */
  lose(): void;
};

const FIRST_DISTRUST_MS = 30_000;
const MAX_DISTRUST_MS = 3_600_000;

/**
 * Whoever claims a head far above all others is asked first, once: only the blocks themselves can tell whether the others are late or
 * it lies. If it cannot show them its claims count for nothing for a while, twice as long each time.
 * @param now monotonic milliseconds.
 */
export function createCredit(now: () => number = () => performance.now()): Credit {
  let distrustedUntil = Number.NEGATIVE_INFINITY;
  let losses = 0;
  const isGood = () => now() >= distrustedUntil;
  return {
    isGood,
    gain() {
      if (isGood()) losses = 0;
    },
    lose() {
      if (!isGood()) return;
      distrustedUntil = now() + Math.min(MAX_DISTRUST_MS, FIRST_DISTRUST_MS * 2 ** losses);
      losses += 1;
    },
  };
}
