/** Without an announcement for so many block times, announcements count as broken off. */
const SILENT_AFTER_BLOCKS = 1.5;
/** Looks for a block that was announced and is not there. */
const MAX_LOOKS = 3;

/** What endpoints have announced, and whether it has been found. Times are monotonic milliseconds. */
export function createAnnouncements() {
  let lastAt = Number.NEGATIVE_INFINITY;
  /** The block that was announced and not found yet; `hash` is null when the announcement names none. */
  let awaited: { hash: string | null } | null = null;
  return {
    isAwaited: () => awaited !== null,
    announced(hash: string | null, at: number): void {
      lastAt = at;
      awaited = { hash };
    },
    /** Until when the next announcement can be waited for, on a chain of this block time. */
    awaitedUntil: (blockMs: number): number => lastAt + SILENT_AFTER_BLOCKS * blockMs,
    /** So many looks have found nothing. */
    notFound(looks: number): void {
      if (looks >= MAX_LOOKS) awaited = null;
    },
    /** A look that began then has found this block. @returns when it was announced, or null. */
    found(hash: string, startedAt: number): number | null {
      // Another one may have been announced during the look.
      const wasAnnounced = awaited !== null && (lastAt <= startedAt || awaited.hash === hash);
      if (wasAnnounced) awaited = null;
      return wasAnnounced ? Math.min(lastAt, startedAt) : null;
    },
  };
}
