import type { Aim, Table } from './benchmark.ts';
import type { ConsolePages } from './console.bench.ts';
import { PUBLIC_STATUS } from './support/console-requests.ts';
import { renderSpread, shortened, significant } from './support/report.ts';
import { measurementOf, ratioOf, spreadOf, type Measurement } from './support/rounds.ts';

/** Where a public status by itself takes 2 ms, so many of them are 200 ms. */
const AT_MOST = 100;

export const consoleNotes = [
  'ms is the median of one request of one person; to the public status, straight to the gateway, the median of the ratios of the rounds',
  '(least–greatest). Pages of a merchant are those of the largest, who has a fifth of all payments. The overview counts days that are over',
  'once in the life of a process: that first time is in the warm-up.',
];

const timeOf = ({ rate }: Measurement): number => 1 / rate;

export const consoleAims = ({ rounds, pages }: ConsolePages): Aim[] =>
  pages.map((page) => ({
    what: `${page}: time to that of a public status`,
    measured: ratioOf(rounds, timeOf, page, PUBLIC_STATUS),
    atMost: AT_MOST,
  }));

/** Of a page's statements, those that take longest are the ones to look at. */
const SHOWN = 15;

export function consoleTables({ rounds, pages, statements }: ConsolePages): Table[] {
  const ms = (name: string, of: (measurement: Measurement) => number): string =>
    significant(spreadOf(rounds.map((round) => of(measurementOf(round, name)))).median);
  const slowest = statements
    .flatMap(({ page, requests, costs }) => costs.map((cost) => ({ page, cost, us: cost.execUs / requests })))
    .sort((a, b) => b.us - a.us)
    .slice(0, SHOWN);
  return [
    {
      title: 'One page',
      columns: ['', 'ms', 'p99 ms', 'to a public status'],
      rows: [PUBLIC_STATUS, ...pages].map((name) => [
        name,
        ms(name, (measurement) => timeOf(measurement) * 1000),
        ms(name, ({ p99Ms }) => p99Ms),
        name === PUBLIC_STATUS ? '1' : renderSpread(ratioOf(rounds, timeOf, name, PUBLIC_STATUS)),
      ]),
    },
    {
      title: 'Statements that take longest for a page',
      columns: ['', 'ms', 'pages'],
      rows: slowest.map(({ page, cost, us }) => [
        `${page}: ${shortened(cost.query)}`,
        significant(us / 1000),
        significant(cost.pages / cost.calls),
      ]),
    },
  ];
}
