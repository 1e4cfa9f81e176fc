import { html, type Html } from '@quittance/checkout-page/html.ts';
import type { DayTotals, Totals } from '@quittance/contracts/http/payments/totals.ts';
import { barChart } from './chart.ts';
import { facts, link, table, type Cell } from './parts.ts';

type Sum = Totals['together'];
type Span = Sum & { name: string };

/** What all payments came to, today and this month. @param totals of the month, today last. */
export function totalsPart({ days, together, open }: Totals): Html {
  const today = days.at(-1);
  if (today === undefined) return html``;
  const spans: Span[] = [
    { name: 'Today', ...today },
    { name: 'This month', ...together },
  ];
  return html`${table('Payments', spans, columns)}
  ${facts({ 'Waiting for money': open, 'Money to look at': link('/transfers', 'Unmatched transfers') })}
  ${monthChart(days)}`;
}

const counts: Record<string, (row: Sum) => Cell> = {
  Created: ({ created }) => created,
  Paid: ({ paid }) => paid,
  'Sum, USDT': ({ paid_amount: amount }) => amount,
  'Unmatched transfers': ({ unmatched }) => unmatched,
  'Of those too late': ({ late }) => late,
};

const columns: Record<string, (span: Span) => Cell> = { Period: ({ name }) => name, ...counts };

function monthChart(days: readonly DayTotals[]): Html {
  const busiest = days.reduce((most, day) => (day.created > most.created ? day : most));
  const about =
    busiest.created === 0
      ? 'Nothing was created this month.'
      : `From the first of the month to today; most on ${busiest.day}: ${busiest.created} created, ${busiest.paid} paid.`;
  return barChart({
    id: 'created-and-paid-by-day',
    title: 'Created and paid by day',
    about,
    rows: days,
    series: [
      { name: 'created', kind: 'first', valueOf: ({ created }) => created },
      { name: 'paid', kind: 'second', valueOf: ({ paid }) => paid },
    ],
    table: { 'Day, UTC': ({ day }: DayTotals) => day, ...counts },
  });
}
