import type { Urgency } from './daily-budget.ts';

/** The longest pause between two pieces of work that a used-up budget causes: it slows, and never stops. */
const LONGEST_PAUSE_MS: Record<Urgency, number> = { payments: 60_000, background: 600_000 };

/**
 * Spreads work over the day where a plan limits it.
 * @param waitMs until the budget of the endpoint that is asked next allows such a read; 0 for now.
 * @param now monotonic milliseconds.
 */
export function createPacer(
  waitMs: (urgency: Urgency, than: number | undefined) => number,
  now: () => number = () => performance.now(),
) {
  /** When each kind of work began last. */
  const begunAt = new Map<string, number>();
  /**
   * Whether a piece of work may begin, which is then taken as begun.
   * @param work its kind: each has its own longest pause.
   * @param than an endpoint that is not asked for it.
   */
  return function mayBegin(work: string, urgency: Urgency, than?: number): boolean {
    const last = begunAt.get(work) ?? Number.NEGATIVE_INFINITY;
    if (now() - last < LONGEST_PAUSE_MS[urgency] && waitMs(urgency, than) > 0) return false;
    begunAt.set(work, now());
    return true;
  };
}
