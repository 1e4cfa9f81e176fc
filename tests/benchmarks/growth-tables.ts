import type { Aim, Table } from './benchmark.ts';
import type { Growth } from './growth.bench.ts';
import { renderSpread, significant } from './support/report.ts';
import { spreadOf, type Spread } from './support/rounds.ts';

const AT_MOST = 1.2;

export const growthNotes = [
  'ms and pages (of 8 KiB) are of one run in the database, without planning, round trips and commits; × is the median of the ratios of the rounds.',
  'Every run is rolled back. The small schema stays vacuumed; autovacuum is off in both, so that only what is described happens.',
];

export const growthTables = (all: readonly Growth[]): Table[] =>
  [...Map.groupBy(all, ({ part, state }) => `${part}: ${state}`)].map(([title, rows]) => ({
    title,
    columns: ['statement', 'ms, few', 'ms, many', '×', 'pages, few', 'pages, many', '× pages'],
    rows: rows.map(({ operation, rounds }) => {
      const of = (size: 'small' | 'large', what: 'ms' | 'pages') =>
        spreadOf(rounds.map((round) => round[size][what])).median;
      return [
        operation,
        ...[of('small', 'ms'), of('large', 'ms')].map(significant),
        renderSpread(timesOf(rounds, 'ms')),
        ...[of('small', 'pages'), of('large', 'pages')].map(significant),
        significant(timesOf(rounds, 'pages').median),
      ];
    }),
  }));

export const growthAims = (all: readonly Growth[]): Aim[] =>
  all.map(({ part, state, operation, rounds }) => ({
    what: `${part}, ${state}: ${operation}, time as a multiple of that with few`,
    measured: timesOf(rounds, 'ms'),
    atMost: AT_MOST,
  }));

const timesOf = (rounds: Growth['rounds'], what: 'ms' | 'pages'): Spread =>
  spreadOf(rounds.map(({ small, large }) => large[what] / small[what]));
