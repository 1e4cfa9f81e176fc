import type { Aim, Table } from './benchmark.ts';
import type { GatewayComparison, StatementCount } from './gateway.bench.ts';
import { renderSpread, shortened, significant } from './support/report.ts';
import { cpuUsPerUnit, measurementOf, ratioOf, spreadOf, type Measurement } from './support/rounds.ts';
import type { StatementCost } from './support/statements.ts';

const AIM = 0.6;

const rateOf = ({ rate }: Measurement): number => rate;

export const throughputAim = ({ endpoint, connections, rounds }: GatewayComparison): Aim => ({
  what: `${endpoint}, ${connections} connections: requests/s to bare express`,
  atLeast: AIM,
  measured: ratioOf(rounds, rateOf, 'gateway', 'express'),
});

/** How to read the tables of comparisons. */
export const notes = [
  'Ratios of requests/s are medians of the rounds (least–greatest). µs is CPU time for one request: of the process that answers,',
  'of the two behind it, and of the load generator. Where cores are scarce they all share them, so the CPU time of a request',
  'decides; with a core for each, that of the process that answers.',
];

/** All contenders, their ratios to the baselines, and what a request cost each process. */
export function comparisonTable({ endpoint, connections, rounds }: GatewayComparison): Table {
  const median = (name: string, of: (measurement: Measurement) => number): string =>
    significant(spreadOf(rounds.map((round) => of(measurementOf(round, name)))).median);
  const ratio = (name: string, baseline: string): string =>
    name === baseline ? '1' : renderSpread(ratioOf(rounds, rateOf, name, baseline));
  const processes = ['server', 'payments', 'postgres', 'load'];
  return {
    title: `${endpoint}, ${plural(connections)}`,
    columns: ['', 'req/s', 'to express', 'to http', 'p50 ms', 'p99 ms', ...processes.map((name) => `${name} µs`)],
    rows: Object.keys(rounds[0] ?? {}).map((name) => [
      name,
      median(name, rateOf),
      ratio(name, 'express'),
      ratio(name, 'http'),
      median(name, ({ p50Ms }) => p50Ms),
      median(name, ({ p99Ms }) => p99Ms),
      ...processes.map((process) => significant(cpuUsPerUnit(rounds, name, process))),
    ]),
  };
}

const plural = (connections: number): string => (connections === 1 ? '1 connection' : `${connections} connections`);

/** Whose statements serve these requests; the other services only go on with their own work meanwhile. */
const serving = ['gateway', 'payments'];

export function statementTable({ endpoint, connections, requests, costs }: StatementCount): Table {
  const perRequest = (value: number): string => significant(value / requests);
  // One statement may serve all requests under way, but not more: what ran less often belongs to the services' own loops.
  const ofRequests = costs.filter(
    ({ service, calls }) => serving.includes(service) && calls >= requests / (2 * connections),
  );
  const sum = (of: (cost: StatementCost) => number): string =>
    perRequest(ofRequests.reduce((total, cost) => total + of(cost), 0));
  const numbers: ((cost: StatementCost) => number)[] = [
    ({ calls }) => calls,
    ({ execUs }) => execUs,
    ({ walBytes }) => walBytes,
    ({ pages }) => pages,
  ];
  return {
    title: `${endpoint}: SQL for one request, ${plural(connections)}`,
    columns: ['', 'statements', 'execution µs', 'WAL bytes', 'pages'],
    rows: [
      ...ofRequests.map((cost) => [
        `${cost.service}: ${shortened(cost.query)}`,
        ...numbers.map((of) => perRequest(of(cost))),
      ]),
      ['all', ...numbers.map((of) => sum(of))],
    ],
  };
}
