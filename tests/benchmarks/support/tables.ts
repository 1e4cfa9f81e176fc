import type { Table } from '../benchmark.ts';
import { renderSpread, shortened, significant } from './report.ts';
import { cpuUsPerUnit, measurementOf, ratioOf, spreadOf, type Measurement, type Round } from './rounds.ts';
import type { StatementCost } from './statements.ts';

export type Figure = (measurement: Measurement) => number;

export const rateOf: Figure = ({ rate }) => rate;
export const namesOf = (rounds: readonly Round[]): string[] => Object.keys(rounds[0] ?? {});

/** The median over all rounds, as a cell. */
export const medianCell = (rounds: readonly Round[], name: string, of: Figure): string =>
  significant(spreadOf(rounds.map((round) => of(measurementOf(round, name)))).median);

export const ratioCell = (rounds: readonly Round[], of: Figure, name: string, baseline: string): string =>
  name === baseline ? '1' : renderSpread(ratioOf(rounds, of, name, baseline));

/** Each contender's rate, its ratio to the baselines, more figures, and CPU time of each process for one unit of work. */
export function rateTable(options: {
  title: string;
  rounds: readonly Round[];
  /** What is counted, such as `events`. */
  units: string;
  baselines: readonly string[];
  figures?: Record<string, Figure>;
  processes?: readonly string[];
}): Table {
  const { title, rounds, units, baselines, figures = {}, processes = [] } = options;
  return {
    title,
    columns: [
      ...['', `${units}/s`, ...baselines.map((name) => `to ${name}`)],
      ...[...Object.keys(figures), ...processes.map((name) => `${name} µs`)],
    ],
    rows: namesOf(rounds).map((name) => [
      name,
      medianCell(rounds, name, rateOf),
      ...baselines.map((baseline) => ratioCell(rounds, rateOf, name, baseline)),
      ...Object.values(figures).map((of) => medianCell(rounds, name, of)),
      ...processes.map((process) => significant(cpuUsPerUnit(rounds, name, process))),
    ]),
  };
}

export const latencyFigures: Record<string, Figure> = {
  'p50 ms': ({ p50Ms }) => p50Ms,
  'p99 ms': ({ p99Ms }) => p99Ms,
};
export const walFigure: Record<string, Figure> = {
  'WAL bytes': ({ walBytes = Number.NaN, units }) => walBytes / units,
};

/** CPU time of each process for one unit of work, and their sum where all are known. */
export function cpuTable(title: string, rounds: readonly Round[], processes: readonly string[]): Table {
  return {
    title,
    columns: ['', ...processes, 'all'],
    rows: namesOf(rounds).map((name) => {
      const spent = processes.map((process) => cpuUsPerUnit(rounds, name, process));
      const all = spent.every((us) => us !== null) ? spent.reduce((sum, us) => sum + us, 0) : null;
      return [name, ...[...spent, all].map(significant)];
    }),
  };
}

/** What a number of units of work asked of the database. */
export type CountedStatements = { title: string; units: number; costs: StatementCost[] };

/** Loops of the services run meanwhile: a statement that takes less than a tenth of a microsecond of a unit is theirs. */
const LEAST_US = 0.1;

/** What one unit of work costs by statement. `›` marks statements of a function, whose cost is part of the function's call. */
export function statementTable({ title, units, costs }: CountedStatements): Table {
  const numbers: ((cost: StatementCost) => number)[] = [
    ({ calls }) => calls,
    ({ execUs }) => execUs,
    ({ walBytes }) => walBytes,
    ({ pages }) => pages,
  ];
  const counted = costs
    .filter(({ execUs, query }) => execUs >= LEAST_US * units && query !== 'select $1')
    .sort((a, b) => Number(a.nested) - Number(b.nested));
  const calls = counted.filter(({ nested }) => !nested);
  const each = (value: number): string => significant(value / units);
  return {
    title,
    columns: ['', 'statements', 'execution µs', 'WAL bytes', 'pages'],
    rows: [
      ...counted.map((cost) => [
        `${cost.nested ? '› ' : ''}${cost.service}: ${shortened(cost.query)}`,
        ...numbers.map((of) => each(of(cost))),
      ]),
      ['all', ...numbers.map((of) => each(calls.reduce((sum, cost) => sum + of(cost), 0)))],
    ],
  };
}
