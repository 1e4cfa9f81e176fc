import {
  TOTALS_DAYS_MAX,
  type CountedDay,
  type DayTotals,
  type MerchantTotals,
  type Totals,
} from '@quittance/contracts/http/payments/reports.ts';
import { invalid } from '@quittance/http/errors.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { systemClock, type Clock } from '@quittance/runtime/time.ts';
import { countPayments, countOpen, countUnmatched } from './report.sql.ts';
import { sumOfAmounts } from './report.ts';

const DAY_MS = 86_400_000;

/** This long after a day's end, no transaction that belongs to it is still running, even if clocks differ. */
const GRACE_MS = 15 * 60_000;

/** At most this many days are kept, of all merchants together. */
const KEPT_MAX = 20_000;

/** More networks than any deployment has. */
const ROWS_MAX = TOTALS_DAYS_MAX * 100;

type Span = { from: Date; to: Date };

/**
 * Totals of the days of a few weeks, of one merchant's payments or of all (null). What was created and paid on a day does not change after
 * the day, so each past day is counted once per process; only today is counted each time.
 */
export type CountDays = (merchantId: string | null, span: Span) => Promise<CountedDay[]>;

/** @throws HttpError 422 for too many days, or none. */
export function createDayCounts(db: Queryable, clock: Clock = systemClock): CountDays {
  const kept = new Map<string, CountedDay>();

  async function count(merchantId: string | null, days: readonly Date[]): Promise<CountedDay[]> {
    const [from, last] = [days.at(0), days.at(-1)];
    if (from === undefined || last === undefined) return [];
    const span = { from, to: endOf(last), group: 'day', by: 'payment', limit: ROWS_MAX } as const;
    const rows = await countPayments(db, merchantId, span);
    return days.map(dayText).map((day) => {
      const own = rows.filter(({ period }) => period === day);
      const sum = (field: 'created' | 'paid') => own.reduce((total, row) => total + row[field], 0);
      const paid_amount = sumOfAmounts(own.map(({ paid_amount: amount }) => amount));
      return { day, created: sum('created'), paid: sum('paid'), paid_amount };
    });
  }

  return async (merchantId, { from, to }) => {
    const keyOf = (day: string) => `${merchantId ?? ''} ${day}`;
    const days = daysOf(from, to);
    const isOver = (day: Date) => endOf(day).getTime() + GRACE_MS <= clock().getTime();
    const over = await count(
      merchantId,
      days.filter((day) => isOver(day) && !kept.has(keyOf(dayText(day)))),
    );
    const known = days.flatMap((day) => kept.get(keyOf(dayText(day))) ?? []);
    const present = await count(
      merchantId,
      days.filter((day) => !isOver(day)),
    );
    if (kept.size + over.length > KEPT_MAX) kept.clear();
    for (const counted of over) kept.set(keyOf(counted.day), counted);
    return [...known, ...over, ...present].sort((one, other) => (one.day < other.day ? -1 : 1));
  };
}

/** Totals of all merchants' payments, with unmatched transfers and what is open. */
export const createTotals =
  (db: Queryable, countDays: CountDays): ((span: Span) => Promise<Totals>) =>
  async ({ from, to }) => {
    const counted = await countDays(null, { from, to });
    const unmatched = new Map((await countUnmatched(db, { from, to: endOf(to) })).map((row) => [row.day, row]));
    const rows = counted.map((day) => ({ ...day, unmatched: 0, late: 0, ...unmatched.get(day.day) }));
    return { days: rows, together: sumOf(rows), open: await countOpen(db) };
  };

/** A merchant's totals. */
export const createMerchantTotals =
  (countDays: CountDays): ((merchantId: string, span: Span) => Promise<MerchantTotals>) =>
  async (merchantId, span) => {
    const days = await countDays(merchantId, span);
    return { days, together: paidAndCreated(days) };
  };

function sumOf(days: readonly DayTotals[]): Totals['together'] {
  const sum = (field: 'unmatched' | 'late') => days.reduce((all, day) => all + day[field], 0);
  return { ...paidAndCreated(days), unmatched: sum('unmatched'), late: sum('late') };
}

function paidAndCreated(days: readonly CountedDay[]): MerchantTotals['together'] {
  const sum = (field: 'created' | 'paid') => days.reduce((all, day) => all + day[field], 0);
  const paid_amount = sumOfAmounts(days.map(({ paid_amount: amount }) => amount));
  return { created: sum('created'), paid: sum('paid'), paid_amount };
}

/** Both included. @throws HttpError 422 for too many days, or none. */
function daysOf(from: Date, to: Date): Date[] {
  const days = (to.getTime() - from.getTime()) / DAY_MS + 1;
  if (days < 1) throw invalid({ field: 'to', reason: 'must not be before from' });
  if (days > TOTALS_DAYS_MAX)
    throw invalid({ field: 'to', reason: `must be at most ${TOTALS_DAYS_MAX} days from from` });
  return Array.from({ length: days }, (_, at) => new Date(from.getTime() + at * DAY_MS));
}

const endOf = (day: Date): Date => new Date(day.getTime() + DAY_MS);
const dayText = (day: Date): string => day.toISOString().slice(0, 10);
