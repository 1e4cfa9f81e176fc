import type { DailyPlan } from './network.ts';

/** How much of a plan's day is used. */
export type Usage = { requests: number; units: number };

/** `payments`: a payment waits for the reading. `background`: none does. */
export type Urgency = 'payments' | 'background';

export type DailyBudget = ReturnType<typeof createDailyBudget>;

const DAY_MS = 86_400_000;

/** How far reads may be ahead of the day's even pace, as a share of the day: one hour while payments wait. */
const HEAD_START: Record<Urgency, number> = { payments: 1 / 24, background: 0 };

/**
 * The rest of a provider's plan for the day. Spent evenly, the plan lasts until the next day begins. So this says how long to wait until the
 * even pace has caught up with the usage. It refuses nothing: a caller that has waited too long reads anyway.
 * @param now Unix milliseconds, because a provider's day is a calendar day.
 */
export function createDailyBudget(plan: DailyPlan, now: () => number = Date.now) {
  let [stored, unstored] = [NOTHING, NOTHING];
  let day = dayAt(now());

  function dayAt(time: number): string {
    return new Date(time - plan.beginsAtMinute * 60_000).toISOString().slice(0, 10);
  }
  /** The share of the day that has passed, from 0 to 1. */
  function elapsed(): number {
    return ((((now() - plan.beginsAtMinute * 60_000) % DAY_MS) + DAY_MS) % DAY_MS) / DAY_MS;
  }
  /** Counting starts again each day. Unstored usage of the last day is dropped, because nothing depends on it any more. */
  function today(): string {
    const current = dayAt(now());
    if (current !== day) {
      [stored, unstored] = [NOTHING, NOTHING];
      day = current;
    }
    return day;
  }
  function used(): Usage {
    today();
    return add(stored, unstored);
  }
  /** The used share of the day's budget: of requests or of units, whichever is scarcer. */
  function usedShare(): number {
    const { requests, units } = used();
    return Math.max(requests / (plan.requestsPerDay ?? Infinity), units / (plan.unitsPerDay ?? Infinity));
  }

  return {
    plan,
    used,
    usedShare,
    /** The used share of the budget minus the share of the day that has passed. Above 0, the budget will not last at this pace. */
    ahead: (): number => usedShare() - elapsed(),
    /** Unix milliseconds. */
    dayEndsAt: (): number => Math.round(now() + (1 - elapsed()) * DAY_MS),
    /** Counts the calls of one exchange. */
    count(methods: readonly string[]): void {
      today();
      const prices = plan.unitPrices;
      const ofBatch = methods.length > 1 ? (prices?.['batch'] ?? 0) : 0;
      const units = methods.reduce((sum, method) => sum + (prices?.[method] ?? prices?.default ?? 0), ofBatch);
      unstored = add(unstored, { requests: methods.length, units });
    },
    /** Milliseconds until a read of this urgency fits into the day's pace; 0 when it does. */
    waitMs(urgency: Urgency): number {
      const share = usedShare();
      const over = elapsed();
      if (share >= 1) return DAY_MS * (1 - over);
      return DAY_MS * Math.max(0, share - over - HEAD_START[urgency]);
    },
    /** The usage since the last call, to be stored. If that fails, the caller must call bringBack(). */
    takeUnstored(): { day: string; usage: Usage } {
      const taken = { day: today(), usage: unstored };
      [stored, unstored] = [add(stored, unstored), NOTHING];
      return taken;
    },
    bringBack({ day: ofDay, usage }: { day: string; usage: Usage }): void {
      if (ofDay !== today()) return;
      [stored, unstored] = [add(stored, { requests: -usage.requests, units: -usage.units }), add(unstored, usage)];
    },
    /** The stored usage of a day, by all replicas. */
    setStored(ofDay: string, usage: Usage): void {
      if (ofDay === today()) stored = usage;
    },
  };
}

const NOTHING: Usage = { requests: 0, units: 0 };

const add = (a: Usage, b: Usage): Usage => ({ requests: a.requests + b.requests, units: a.units + b.units });
