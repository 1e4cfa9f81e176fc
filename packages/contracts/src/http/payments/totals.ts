import { defineCall, json } from '../../call.ts';
import { query } from '../../query.ts';

/** What happened to all merchants' payments on one UTC day, `2026-01-31`. */
export type DayTotals = {
  day: string;
  created: number;
  paid: number;
  /** What the transfers carried, exact decimal text in USDT. */
  paid_amount: string;
  /** Transfers in blocks of that day that pay nothing, and those of them that came too late. */
  unmatched: number;
  late: number;
};

/** Every day of the span, those on which nothing happened too, what they come to, and how many payments wait now. */
export type Totals = { days: DayTotals[]; together: Omit<DayTotals, 'day'>; open: number };

export const TOTALS_DAYS_MAX = 31;

/**
 * For operators: what the overview shows. Both days are included; a payment counts as created by `created_at`, as paid by `paid_at`.
 * 422 for more than 31 days.
 */
export const ReadTotals = defineCall('payments', 'GET /totals', json<Totals>(), {
  access: 'viewer',
  query: { from: query.day, to: query.day },
});
