import { defineCall, json } from '../../call.ts';
import { query } from '../../query.ts';

export const reportGroups = ['day', 'month'] as const;

export type ReportGroup = (typeof reportGroups)[number];

/** When a payment counts as paid: at `paid_at`, or at the time of its transfer's block. */
export const reportTimes = ['payment', 'chain'] as const;

export type ReportTime = (typeof reportTimes)[number];

type Counts = {
  created: number;
  paid: number;
  /** The sum of the transfers, exact decimal text in USDT. */
  paid_amount: string;
  expired: number;
  cancelled: number;
  /** The prices in other currencies of the paid payments: their sums by currency, exact decimal text. */
  paid_prices: Record<string, string>;
};

/** The counts of one network in one UTC day or month, `2026-01-31` or `2026-01`. */
export type ReportRow = { period: string; network: string } & Counts;

/** Rows by period and network. A period without events has no row. */
export type Report = { rows: ReportRow[]; totals: Counts };

export const REPORT_ROWS_MAX = 400;

/**
 * Counts a merchant's payments, each in the period of the event: created by `created_at`, paid by `paid_at` or, with
 * `by=chain`, by the time of the block, cancelled by `cancelled_at`, and expired by `expires_at`. A payment that was
 * paid later counts neither as expired nor as cancelled.
 * Both days are included; `group` is day by default. 422 for more than 400 rows, 503 when counting takes too long.
 */
export const ReadReport = defineCall('payments', 'GET /merchants/:merchant_id/report', json<Report>(), {
  callers: ['api-gateway'],
  access: 'viewer',
  forMerchants: 'viewer',
  query: { from: query.day, to: query.day, group: query.oneOf(...reportGroups), by: query.oneOf(...reportTimes) },
});

/** A span of UTC days, each given as its midnight; both are included. */
export type ReportSpan = { from: Date; to: Date; group: ReportGroup; by: ReportTime };

/** @returns what is wrong with a span, or null. Rows of several networks are counted only once they are known. */
export function reportSpanProblem({
  from,
  to,
  group,
}: Omit<ReportSpan, 'by'>): { field: string; reason: string } | null {
  if (to < from) return { field: 'to', reason: 'must not be before from' };
  const months = (to.getUTCFullYear() - from.getUTCFullYear()) * 12 + to.getUTCMonth() - from.getUTCMonth() + 1;
  const periods = group === 'month' ? months : (to.getTime() - from.getTime()) / DAY_MS + 1;
  return periods > REPORT_ROWS_MAX ? tooManyRows : null;
}

export const tooManyRows = {
  field: 'to',
  reason: `must leave at most ${REPORT_ROWS_MAX} rows: ask for less, or by month`,
};

const DAY_MS = 86_400_000;

/** Payments created and paid on one UTC day, `2026-01-31`. */
export type CountedDay = {
  day: string;
  created: number;
  paid: number;
  /** The sum of the transfers, exact decimal text in USDT. */
  paid_amount: string;
};

/** The totals of all merchants' payments on one UTC day. */
export type DayTotals = CountedDay & {
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

/** Every day of the span, including days without events, and their sum. */
export type MerchantTotals = { days: CountedDay[]; together: Omit<CountedDay, 'day'> };

/**
 * The same of one merchant, for the first page that its people see. The numbers are those of its report. A process
 * counts each past day once.
 */
export const ReadMerchantTotals = defineCall('payments', 'GET /merchants/:merchant_id/totals', json<MerchantTotals>(), {
  access: 'viewer',
  forMerchants: 'viewer',
  query: { from: query.day, to: query.day },
});
