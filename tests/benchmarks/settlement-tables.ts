import type { Aim, Table } from './benchmark.ts';
import type { SettlementMeasurements } from './settlement.bench.ts';
import { renderSpread, shortened, significant } from './support/report.ts';
import { cpuUsPerUnit, measurementOf, ratioOf, spreadOf, type Measurement, type Round } from './support/rounds.ts';

const OURS = 'payments ×2';
const BASELINE = 'pgbench';
const RATE_AIM = 3_000;
/** A creation may wait for its share of the processors, but not for the backlog. */
const P99_AIM = 3;

const rateOf = ({ rate }: Measurement): number => rate;
const p99Of = ({ p99Ms }: Measurement): number => p99Ms;
const namesOf = (rounds: readonly Round[]): string[] => Object.keys(rounds[0] ?? {});
const spreadIn = (rounds: readonly Round[], name: string, of: (measurement: Measurement) => number) =>
  spreadOf(rounds.map((round) => of(measurementOf(round, name))));

export const settlementAims = ({ rounds, creations }: SettlementMeasurements): Aim[] => [
  ...(rounds.length === 0
    ? []
    : [
        { what: `${OURS}: transfers settled a second`, atLeast: RATE_AIM, measured: spreadIn(rounds, OURS, rateOf) },
        { what: `${OURS}: transfers/s to pgbench`, atLeast: 1, measured: ratioOf(rounds, rateOf, OURS, BASELINE) },
      ]),
  ...(creations.length === 0
    ? []
    : [
        {
          what: 'creation p99 beside a backlog to alone',
          atMost: P99_AIM,
          measured: ratioOf(creations, p99Of, 'beside a backlog', 'alone'),
        },
      ]),
];

export const settlementNotes = [
  'All transfers wait in the queue when the clock starts; it stops when every payment is PAID. CPU time goes on until the outbox is empty.',
  'pgbench (-M prepared) settles the same: inbox row, payment locked, transfer written, payment PAID, two messages, commit; 16 clients with',
  'a transaction for each transfer, or 2 with sets of 200. Every commit waits for the disk. Ratios are medians of rounds (least–greatest).',
];

export function settlementTables({ rounds, creations, statements }: SettlementMeasurements): Table[] {
  return [settledTable(rounds), creationTable(creations), statementTable(statements)].filter(
    ({ rows }) => rows.length > 0,
  );
}

function settledTable(rounds: readonly Round[]): Table {
  return {
    title: 'Transfers that pay a payment each',
    columns: ['', 'transfers/s', 'to pgbench', ...PROCESSES.map((process) => `${process} µs`)],
    rows: namesOf(rounds).map((name) => [
      name,
      significant(spreadIn(rounds, name, rateOf).median),
      name === BASELINE ? '1' : renderSpread(ratioOf(rounds, rateOf, name, BASELINE)),
      ...PROCESSES.map((process) => significant(cpuUsPerUnit(rounds, name, process))),
    ]),
  };
}

const PROCESSES = ['payments', 'postgres', 'broker'];

function creationTable(creations: readonly Round[]): Table {
  return {
    title: 'Creations at one replica',
    columns: ['', 'creations/s', 'p50 ms', 'p99 ms'],
    rows: namesOf(creations).map((name) => [
      name,
      ...[rateOf, ({ p50Ms }: Measurement) => p50Ms, p99Of].map((of) =>
        significant(spreadIn(creations, name, of).median),
      ),
    ]),
  };
}

function statementTable({ transfers, costs }: SettlementMeasurements['statements']): Table {
  const perTransfer = (value: number): string => significant(value / transfers);
  return {
    title: 'SQL for one transfer',
    columns: ['', 'statements', 'execution µs', 'WAL bytes', 'pages'],
    // What ran for less than a microsecond a transfer is no part of it.
    rows: costs
      .filter(({ execUs }) => execUs >= transfers)
      .map(({ query, calls, execUs, walBytes, pages }) => [
        shortened(query),
        ...[calls, execUs, walBytes, pages].map(perTransfer),
      ]),
  };
}
