import { defineCall, json } from '../../call.ts';
import { query } from '../../query.ts';

/** The totals of all merchants' payments on one UTC day, `2026-01-31`. */
export type DayTotals = {
  day: string;
  created: number;
  paid: number;
  /** The sum of the transfers, exact decimal text in USDT. */
  paid_amount: string;
  /** Unmatched transfers in blocks of that day, and those of them that were late. */
  unmatched: number;
  late: number;
};

/** Every day of the span, including days without events; their sum; and how many payments are open now. */
export type Totals = { days: DayTotals[]; together: Omit<DayTotals, 'day'>; open: number };

export const TOTALS_DAYS_MAX = 31;

/**
 * For the operators' overview. Both days are included. A payment counts as created by `created_at` and as paid by
 * `paid_at`. 422 for more than 31 days.
 */
export const ReadTotals = defineCall('payments', 'GET /totals', json<Totals>(), {
  access: 'viewer',
  query: { from: query.day, to: query.day },
});
