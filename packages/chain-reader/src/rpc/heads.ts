/** The block that an endpoint reports as its head. It only decides which endpoint is asked first. */
export type Head = {
  number: number;
  /** Unix seconds. */
  timestamp: number;
};

/** An endpoint's head, and whether it may make other endpoints count as lagging. */
export type HeadClaim = { head: Head | null; isTrusted: boolean };

/** An endpoint lags when it is behind by more than both. Blocks come every quarter second on one chain, every twelve seconds on another. */
const MAX_LAG_BLOCKS = 3;
const MAX_LAG_SECONDS = 15;

/** The highest trusted head. */
export function bestHead(claims: readonly HeadClaim[]): Head | null {
  const heads = claims.flatMap(({ head, isTrusted }) => (head !== null && isTrusted ? [head] : []));
  return heads.reduce<Head | null>((best, head) => (best === null || head.number > best.number ? head : best), null);
}

export function lagBlocks(head: Head | null, best: Head | null): number {
  return head === null || best === null ? 0 : Math.max(0, best.number - head.number);
}

export function lags(head: Head | null, best: Head | null): boolean {
  if (head === null || best === null) return false;
  return lagBlocks(head, best) > MAX_LAG_BLOCKS && best.timestamp - head.timestamp > MAX_LAG_SECONDS;
}

const FIRST_DISTRUST_MS = 30_000;
const MAX_DISTRUST_MS = 3_600_000;

/**
 * Whether to believe the heads that an endpoint reports. An endpoint that reports a head far above all others is asked first, once, because
 * only the blocks show whether the others are late or its head is wrong. If it cannot show the blocks, its heads are ignored for a while,
 * twice as long each time.
 * @param now monotonic milliseconds.
 */
export function createHeadTrust(now: () => number = () => performance.now()) {
  let distrustedUntil = Number.NEGATIVE_INFINITY;
  let losses = 0;
  const isTrusted = () => now() >= distrustedUntil;
  return {
    isTrusted,
    /** A read up to the reported head succeeded. */
    proven(): void {
      if (isTrusted()) losses = 0;
    },
    /** In a read up to the reported head, the endpoint could not show the blocks. */
    disproven(): void {
      if (!isTrusted()) return;
      distrustedUntil = now() + Math.min(MAX_DISTRUST_MS, FIRST_DISTRUST_MS * 2 ** losses);
      losses += 1;
    },
  };
}
