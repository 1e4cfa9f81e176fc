import { html, type Html } from '@quittance/checkout-page/html.ts';
import { ReadChains } from '@quittance/contracts/http/chain-watcher/chains.ts';
import { NetworkIncidents, PaymentIncidents } from '@quittance/contracts/http/incidents.ts';
import { ReadTotals, type DayTotals, type Totals } from '@quittance/contracts/http/payments/reports.ts';
import { ListFailedEvents } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import { ListLanes } from '@quittance/contracts/http/webhook-dispatcher/lanes.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { facts, table, type Columns } from '@quittance/operator/view.ts';
import type { Viewer } from './frame.ts';
import { networksPart } from './networks.ts';
import { pageRoute, type Context } from './page-route.ts';
import { searchForm } from './payments.ts';
import { partOf } from './services.ts';
import { grid, render, show } from './view.ts';

/** What needs attention, the totals of the month, and the networks. */
export const overviewRoutes = (context: Context): Route[] => [
  pageRoute(context, '/', async ({ services, viewer }) => {
    const [totals, chains, lanes, failed, aboutPayments, aboutNetworks] = await Promise.all([
      partOf(services.call(ReadTotals, { query: monthOf(new Date()) })),
      partOf(services.call(ReadChains)),
      partOf(services.call(ListLanes)),
      partOf(services.call(ListFailedEvents, { query: { status: 'failed' } })),
      partOf(services.call(PaymentIncidents.list)),
      partOf(services.call(NetworkIncidents.list)),
    ]);
    const counted = (label: string, to: string, count: number) =>
      render([facts({ [label]: { to, label: String(count) } })], viewer);
    return {
      title: 'Overview',
      content: html`${searchForm('')}
        <div class="counts">
          ${show(failed, ({ total }) => counted('Failed webhook events', '/webhooks', total))}
          ${show(lanes, ({ total }) => counted('Merchants whose events wait', '/webhooks', total))}
          ${show(aboutPayments, ({ incidents: { length } }) => counted('Open incidents about payments', '/networks', length))}
          ${show(aboutNetworks, ({ incidents: { length } }) => counted('Open incidents about networks', '/networks', length))}
        </div>
        ${show(totals, (known) => totalsPart(known, viewer))} ${show(chains, (known) => networksPart(known, viewer))}`,
    };
  }),
];

/** From the first of the month to today, in UTC. */
function monthOf(now: Date): { from: string; to: string } {
  const to = now.toISOString().slice(0, 10);
  return { from: `${to.slice(0, 7)}-01`, to };
}

type Sum = Totals['together'];

/** What all payments came to, today and this month. @param totals of the month, today last. */
function totalsPart({ days, together, open }: Totals, viewer: Viewer): Html {
  const today = days.at(-1);
  if (today === undefined) return html``;
  const spans = [
    { name: 'Today', ...today },
    { name: 'This month', ...together },
  ];
  return html`${render(
    [
      table('payments', spans, { period: 'name', ...counts }),
      facts({
        'waiting for money': open,
        'unmatched transfers': { to: '/transfers', label: 'Unmatched transfers' },
      }),
    ],
    viewer,
  )}
  ${monthChart(days, viewer)}`;
}

const counts: Columns<Sum> = {
  created: 'created',
  paid: 'paid',
  'sum, USDT': 'paid_amount',
  'unmatched transfers': 'unmatched',
  'of those too late': 'late',
};

const HEIGHT = 100;
/** Of one day: a bar for each of two series, and the room between days. */
const WIDTH = 10;
const BAR = 4;
const series = ['created', 'paid'] as const;

/**
 * Two bars for each day, drawn here: the browser runs nothing. A person who does not see it has its title, a sentence, and the same numbers as a
 * table below it.
 */
function monthChart(days: readonly DayTotals[], viewer: Viewer): Html {
  const busiest = days.reduce((most, day) => (day.created > most.created ? day : most));
  const about =
    busiest.created === 0
      ? 'Nothing was created this month.'
      : `From the first of the month to today; most on ${busiest.day}: ${busiest.created} created, ${busiest.paid} paid.`;
  const most = Math.max(1, ...days.flatMap((day) => series.map((name) => day[name])));
  const width = days.length * WIDTH;
  const bars = days.flatMap((day, at) =>
    series.map((name, place) => bar(place, at * WIDTH + place * BAR + 1, (day[name] / most) * HEIGHT)),
  );
  const id = 'created-and-paid-by-day';
  const title = 'Created and paid by day';
  return html`<section class="chart">
    <h2 id="${id}">${title}</h2>
    <figure>
      <svg
        role="img"
        aria-labelledby="${id}-title ${id}-about"
        viewBox="0 0 ${String(width)} ${String(HEIGHT + 1)}"
        preserveAspectRatio="none"
      >
        <title id="${id}-title">${title}</title>
        <desc id="${id}-about">${about}</desc>
        ${bars}
        <rect class="line" y="${String(HEIGHT)}" width="${String(width)}" height="1"></rect>
      </svg>
      <figcaption>
        ${series.map((name, place) => html`<span class="key"><i class="${kindOf(place)}"></i>${name}</span> `)}
        <span>${about}</span>
      </figcaption>
    </figure>
    <details>
      <summary>The same as a table</summary>
      ${grid(id, table(null, days, { 'day, UTC': 'day', ...counts }), viewer)}
    </details>
  </section>`;
}

const kindOf = (place: number): string => (place === 0 ? 'first' : 'second');

/** Whatever is more than nothing can be seen. */
function bar(place: number, x: number, wanted: number): Html {
  const height = wanted === 0 ? 0 : Math.max(1, wanted);
  const [y = '', tall = ''] = [HEIGHT - height, height].map((value) => value.toFixed(1));
  return html`<rect class="${kindOf(place)}" x="${String(x)}" y="${y}" width="${String(BAR)}" height="${tall}"></rect>`;
}
