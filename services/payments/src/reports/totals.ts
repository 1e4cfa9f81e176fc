import { TOTALS_DAYS_MAX, type DayTotals, type Totals } from '@quittance/contracts/http/payments/reports.ts';
import { invalid } from '@quittance/http/errors.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { systemClock, type Clock } from '@quittance/runtime/time.ts';
import { countPayments, countOpen, countUnmatched } from './report.sql.ts';
import { sumOfAmounts } from './report.ts';

const DAY_MS = 86_400_000;

/** This long after a day's end, no transaction that belongs to it is still running, even if clocks differ. */
const GRACE_MS = 15 * 60_000;

/** At most this many days are kept. */
const KEPT_MAX = 400;

/** More networks than any deployment has. */
const ROWS_MAX = TOTALS_DAYS_MAX * 100;

type Counted = Pick<DayTotals, 'created' | 'paid' | 'paid_amount'>;

/**
 * Totals of all payments of a few weeks. What was created and paid on a day does not change after the day, so each past day is counted once
 * per process; only today is counted each time.
 */
export function createTotals(
  db: Queryable,
  clock: Clock = systemClock,
): (span: { from: Date; to: Date }) => Promise<Totals> {
  const kept = new Map<string, Counted>();

  async function count(days: readonly Date[]): Promise<Map<string, Counted>> {
    const [from, last] = [days.at(0), days.at(-1)];
    if (from === undefined || last === undefined) return new Map();
    const rows = await countPayments(db, null, { from, to: endOf(last), group: 'day', by: 'payment', limit: ROWS_MAX });
    return new Map(
      days.map(dayText).map((day) => {
        const own = rows.filter(({ period }) => period === day);
        const sum = (field: 'created' | 'paid') => own.reduce((total, row) => total + row[field], 0);
        const paid_amount = sumOfAmounts(own.map(({ paid_amount: amount }) => amount));
        return [day, { created: sum('created'), paid: sum('paid'), paid_amount }];
      }),
    );
  }

  return async ({ from, to }) => {
    const days = daysOf(from, to);
    const isOver = (day: Date) => endOf(day).getTime() + GRACE_MS <= clock().getTime();
    const over = await count(days.filter((day) => isOver(day) && !kept.has(dayText(day))));
    if (kept.size + over.size > KEPT_MAX) kept.clear();
    for (const [day, counted] of over) kept.set(day, counted);
    const counted = new Map([...kept, ...over, ...(await count(days.filter((day) => !isOver(day))))]);
    const unmatched = new Map((await countUnmatched(db, { from, to: endOf(to) })).map((row) => [row.day, row]));
    const rows = days.map(dayText).map((day) => ({
      ...{ day, created: 0, paid: 0, paid_amount: '0', unmatched: 0, late: 0 },
      ...counted.get(day),
      ...unmatched.get(day),
    }));
    return { days: rows, together: sumOf(rows), open: await countOpen(db) };
  };
}

function sumOf(days: readonly DayTotals[]): Totals['together'] {
  const sum = (field: 'created' | 'paid' | 'unmatched' | 'late') => days.reduce((all, day) => all + day[field], 0);
  return {
    ...{ created: sum('created'), paid: sum('paid'), unmatched: sum('unmatched'), late: sum('late') },
    paid_amount: sumOfAmounts(days.map(({ paid_amount: amount }) => amount)),
  };
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
