import { defineCall, json } from '../../call.ts';
import { query } from '../../query.ts';

export const reportGroups = ['day', 'month'] as const;

export type ReportGroup = (typeof reportGroups)[number];

/** When a payment counts as paid: at `paid_at`, or when the block with its transfer was made. */
export const reportTimes = ['payment', 'chain'] as const;

export type ReportTime = (typeof reportTimes)[number];

type Counts = {
  created: number;
  paid: number;
  /** What the transfers carried, exact decimal text in USDT. */
  paid_amount: string;
  expired: number;
  cancelled: number;
};

/** Of one network in one UTC day or month, `2026-01-31` or `2026-01`. */
export type ReportRow = { period: string; network: string } & Counts;

/** Rows by period and network; a period in which nothing happened has none. */
export type Report = { rows: ReportRow[]; totals: Counts };

export const REPORT_ROWS_MAX = 400;

/**
 * What became of a merchant's payments, each counted in the period in which it happened: created by `created_at`, paid by `paid_at`
 * or, with `by=chain`, by the time of the block, cancelled by `cancelled_at`, and expired by `expires_at`. A payment that was paid after all is neither expired nor cancelled any more.
 * Both days are included; `group` is day unless it is given. 422 when it would have more than 400 rows, 503 when counting takes too long.
 */
export const ReadReport = defineCall('payments', 'GET /merchants/:merchant_id/report', json<Report>(), {
  callers: ['api-gateway'],
  access: 'viewer',
  forMerchants: true,
  query: { from: query.day, to: query.day, group: query.oneOf(...reportGroups), by: query.oneOf(...reportTimes) },
});

/** A span of UTC days, each as its midnight; both are included. */
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
