import { html, type Html } from '@quittance/checkout-page/html.ts';
import { ReadChains } from '@quittance/contracts/http/chain-watcher/chains.ts';
import { NetworkIncidents, PaymentIncidents } from '@quittance/contracts/http/incidents.ts';
import { ReadTotals, type DayTotals, type Totals } from '@quittance/contracts/http/payments/reports.ts';
import { ListFailedEvents } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import { ListLanes } from '@quittance/contracts/http/webhook-dispatcher/lanes.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { amount, table, type Columns } from '@quittance/operator/view.ts';
import { amountCell } from './cell.ts';
import type { Viewer } from './frame.ts';
import { networksPart } from './networks.ts';
import { pageRoute, type Context } from './page-route.ts';
import { searchForm } from './payments.ts';
import { partOf } from './services.ts';
import { grid, show } from './view.ts';

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
    return {
      title: 'Overview',
      content: html`${searchForm('')}
        <div class="counts">
          ${show(totals, sumTiles)}
          ${show(failed, ({ total }) => troubleTile('Failed webhook events', '/webhooks', total))}
          ${show(lanes, ({ total }) => troubleTile('Merchants whose events wait', '/webhooks', total))}
          ${show(aboutPayments, ({ incidents: { length } }) => troubleTile('Incidents about payments', '/incidents', length))}
          ${show(aboutNetworks, ({ incidents: { length } }) => troubleTile('Incidents about networks', '/incidents', length))}
        </div>
        ${show(totals, ({ days }) => (days.length === 0 ? html`` : monthChart(days, viewer)))}
        ${show(chains, (known) => networksPart(known, viewer))}`,
    };
  }),
];

/** From the first of the month to today, in UTC. */
function monthOf(now: Date): { from: string; to: string } {
  const to = now.toISOString().slice(0, 10);
  return { from: `${to.slice(0, 7)}-01`, to };
}

/** What all payments came to, today and this month, and what is open now. @param totals of the month, today last. */
function sumTiles({ days, together, open }: Totals): Html {
  const today = days.at(-1);
  if (today === undefined) return html``;
  const paid = (label: string, { paid_amount: sum, paid: count, created }: Sum) =>
    tile(label, html`${amountCell({ amount: sum, currency: 'USDT' })}`, `${count} of ${created} payments`);
  return html`${paid('Paid today, UTC', today)} ${paid('Paid this month', together)}
  ${tile('Waiting for money', html`${String(open)}`, 'payments')}
  ${tile('Unmatched transfers', html`${String(together.unmatched)}`, `${together.late} of them too late`, '/transfers')}`;
}

type Sum = Totals['together'];

/** One number, with what it is above and more about it below. */
export function tile(label: string, count: Html, more: string, path: string | null = null, isTrouble = false): Html {
  const content = html`<span class="quiet-text">${label}</span><strong>${count}</strong
    ><span class="quiet-text">${more}</span>`;
  return path === null
    ? html`<div>${content}</div>`
    : html`<a href="${path}" class="${isTrouble ? 'bad' : ''}">${content}</a>`;
}

/** What somebody should look at, unless it is nothing. */
export const troubleTile = (label: string, path: string, count: number): Html =>
  tile(label, html`${String(count)}`, count === 0 ? 'all is well' : 'look at them', path, count > 0);

const counts: Columns<Sum> = {
  created: 'created',
  paid: 'paid',
  'sum, USDT': ({ paid_amount: sum }) => amount(sum, null),
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
