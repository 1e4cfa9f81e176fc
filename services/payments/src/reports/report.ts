import {
  REPORT_ROWS_MAX,
  reportSpanProblem,
  tooManyRows,
  type Report,
  type ReportRow,
  type ReportSpan,
} from '@quittance/contracts/http/payments/reports.ts';
import { invalid } from '@quittance/http/errors.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { countPayments } from './report.sql.ts';
import { formatUnits } from '@quittance/contracts/amount.ts';

const DAY_MS = 86_400_000;

/** @throws HttpError 422 for a span that ends before it begins, or that leaves too many rows. */
export async function readReport(
  db: Queryable,
  merchantId: string,
  { from, to, group, by }: ReportSpan,
): Promise<Report> {
  const problem = reportSpanProblem({ from, to, group });
  if (problem !== null) throw invalid(problem);
  const end = new Date(to.getTime() + DAY_MS);
  const rows = await countPayments(db, merchantId, { from, to: end, group, by, limit: REPORT_ROWS_MAX + 1 });
  if (rows.length > REPORT_ROWS_MAX) throw invalid(tooManyRows);
  return { rows, totals: totalsOf(rows) };
}

const totalsOf = (rows: readonly ReportRow[]): Report['totals'] => ({
  created: sum(rows, 'created'),
  paid: sum(rows, 'paid'),
  paid_amount: sumOfAmounts(rows.map(({ paid_amount: amount }) => amount)),
  expired: sum(rows, 'expired'),
  cancelled: sum(rows, 'cancelled'),
  paid_prices: sumOfPrices(rows),
});

function sumOfPrices(rows: readonly ReportRow[]): Record<string, string> {
  const prices = rows.flatMap(({ paid_prices: paid }) => Object.entries(paid));
  const byCurrency = Map.groupBy(prices, ([currency]) => currency);
  return Object.fromEntries(
    [...byCurrency].map(([currency, sums]) => [currency, sumOfAmounts(sums.map(([, amount]) => amount))]),
  );
}

const sum = (rows: readonly ReportRow[], field: 'created' | 'paid' | 'expired' | 'cancelled'): number =>
  rows.reduce((total, row) => total + row[field], 0);

/** Exact. @param amounts decimal texts. @returns their sum, without trailing zeros. */
export function sumOfAmounts(amounts: readonly string[]): string {
  const decimals = Math.max(0, ...amounts.map((amount) => fractionOf(amount).length));
  const units = amounts.map((amount) => {
    const [whole = '0'] = amount.split('.');
    return BigInt(whole + fractionOf(amount).padEnd(decimals, '0'));
  });
  return formatUnits(
    units.reduce((total, one) => total + one, 0n),
    decimals,
  );
}

const fractionOf = (amount: string): string => amount.split('.')[1] ?? '';
