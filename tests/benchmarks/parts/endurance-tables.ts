import type { Aim, Table } from '../benchmark.ts';
import type { EnduranceMeasurements, Steady, Timed } from './endurance.ts';
import type { Sample, SchemaSize } from '../support/endurance-samples.ts';
import { latenciesOf, type Latencies } from '../support/latencies.ts';
import { significant } from '../support/report.ts';
import { spreadOf } from '../support/rounds.ts';
import { trendOf, type Trend } from '../support/trend.ts';

const AIMS = {
  megabytesAnHour: 10,
  p99ToFirst: 1.2,
  bytesToFirst: 1.2,
  secondsToCreation: 5,
  secondsToEvent: 10,
};
const HOUR_MS = 3_600_000;
const MB = 1024 * 1024;
const QUARTERS = [0, 1, 2, 3];

export function enduranceAims({ steady, recoveries }: EnduranceMeasurements): Aim[] {
  const first = latenciesIn(steady, 0);
  const last = latenciesIn(steady, 3);
  const growth = QUARTERS.map((quarter) => growthOf(steady, quarter, Object.keys(steady.samples[0]?.schemas ?? {})));
  const figure = (what: string, value: number, atMost: number): Aim => {
    return { what, measured: spreadOf([value]), atMost };
  };
  return [
    ...trendAims(steady, 'megabytes', 'MB an hour', AIMS.megabytesAnHour),
    ...trendAims(steady, 'handles', 'open files an hour', 0),
    figure(
      'bytes of tables a payment, last quarter to first',
      growth[3]!.tables / growth[0]!.tables,
      AIMS.bytesToFirst,
    ),
    figure(
      'bytes of indexes a payment, last quarter to first',
      growth[3]!.indexes / growth[0]!.indexes,
      AIMS.bytesToFirst,
    ),
    figure('p99 of creations, last quarter to first', last.creations.p99 / first.creations.p99, AIMS.p99ToFirst),
    figure('p99 from PAID to delivered, last quarter to first', last.events.p99 / first.events.p99, AIMS.p99ToFirst),
    figure('requests that failed', steady.failed, 0),
    ...recoveries.flatMap(({ service, creation, event }) => [
      figure(`${service} killed: seconds until a creation is answered`, creation, AIMS.secondsToCreation),
      figure(`${service} killed: seconds until an event arrives`, event, AIMS.secondsToEvent),
    ]),
  ];
}

export const enduranceNotes = ({ steady }: EnduranceMeasurements): string[] => [
  `${steady.shops} shops for ${significant(steady.durationMs / 60_000)} minutes. A shop creates a payment every 2.5 s, which is paid on the chain; the shop gets`,
  'its event, lists its payments and asks for its limits every 3 s, and customers open the pages of new payments. The number of shops is',
  'what uses half of the processor time of all cores, calculated from ten shops with everything that serves them and the traffic itself.',
  'An hour: the slope of a line through the samples of the last three quarters, ± twice its standard error. A rise within that error is',
  'noise, and the aim is then the error. Shorter runs have more noise. An event: from PAID until it is stored as delivered.',
  'Each process is killed under this traffic and started again 0.2 s later. A block comes every second; a transfer is final in the second.',
];

export const enduranceTables = (measured: EnduranceMeasurements): Table[] => [
  processTable(measured.steady),
  schemaTable(measured.steady),
  latencyTable(measured.steady),
  queueTable(measured.steady),
  recoveryTable(measured),
];

/** Each sample with the latencies since the one before. */
export const latenciesBySample = (steady: Steady) =>
  steady.samples.map((sample, number) => {
    const from = steady.samples[number - 1]?.atMs ?? sample.atMs;
    const within = (timed: readonly Timed[]) => latenciesBetween(timed, from, sample.atMs);
    return { ...sample, creations: within(steady.creations), events: within(steady.events) };
  });

const latenciesBetween = (timed: readonly Timed[], from: number, until: number): Latencies =>
  latenciesOf(timed.filter(({ atMs }) => atMs >= from && atMs < until).map(({ ms }) => ms));

function latenciesIn({ durationMs, creations, events }: Steady, quarter: number) {
  const [from, until] = [(quarter * durationMs) / 4, ((quarter + 1) * durationMs) / 4];
  return { creations: latenciesBetween(creations, from, until), events: latenciesBetween(events, from, until) };
}

/** The samples with which a quarter begins and ends. */
function edgesOf({ samples }: Steady, quarter: number): { from: Sample; until: Sample } {
  const each = (samples.length - 1) / 4;
  return { from: samples[quarter * each]!, until: samples[(quarter + 1) * each]! };
}

/** Bytes by which these schemas grew in a quarter, for each payment that was created in it. */
function growthOf(steady: Steady, quarter: number, schemas: readonly string[]): Pick<SchemaSize, 'tables' | 'indexes'> {
  const { from, until } = edgesOf(steady, quarter);
  const grown = (of: 'tables' | 'indexes'): number =>
    schemas.reduce((sum, schema) => sum + until.schemas[schema]![of] - from.schemas[schema]![of], 0) /
    (until.payments - from.payments);
  return { tables: grown('tables'), indexes: grown('indexes') };
}

const processesOf = ({ samples }: Steady): string[] => Object.keys(samples[0]?.processes ?? {});

/** For an hour, from the last three quarters. */
function trendIn(steady: Steady, process: string, of: 'megabytes' | 'handles'): Trend {
  const { samples } = steady;
  const lasting = samples.slice((samples.length - 1) / 4);
  return trendOf(lasting.map(({ atMs, processes }) => [atMs / HOUR_MS, processes[process]?.[of] ?? Number.NaN]));
}

const trendAims = (steady: Steady, of: 'megabytes' | 'handles', what: string, atMost: number): Aim[] =>
  processesOf(steady).map((process) => {
    const { slope, noise } = trendIn(steady, process, of);
    return {
      what: `${process}: ${what}`,
      measured: { median: slope, min: slope - noise, max: slope + noise },
      atMost: Math.max(atMost, Math.ceil(noise)),
    };
  });

function processTable(steady: Steady): Table {
  const { samples } = steady;
  return {
    title: 'Resident memory and open files',
    columns: ['process', 'MB first', 'last', 'an hour', '±', 'files first', 'last', 'an hour', '±'],
    rows: processesOf(steady).map((process) => [
      process,
      ...(['megabytes', 'handles'] as const).flatMap((of) => {
        const at = (sample: Sample | undefined): number => sample?.processes[process]?.[of] ?? Number.NaN;
        const { slope, noise } = trendIn(steady, process, of);
        return [at(samples[0]), at(samples.at(-1)), slope, noise].map(significant);
      }),
    ]),
  };
}

function schemaTable(steady: Steady): Table {
  const { samples } = steady;
  const last = samples.at(-1)!;
  return {
    title:
      'Tables and indexes: MB at the end, bytes for each payment created in the first and the last quarter, most dead rows',
    columns: ['schema', 'tables MB', 'first', 'last', 'indexes MB', 'first', 'last', 'dead rows'],
    rows: Object.entries(last.schemas).map(([schema, { tables, indexes }]) => {
      const [first, final] = [growthOf(steady, 0, [schema]), growthOf(steady, 3, [schema])];
      const dead = Math.max(...samples.map(({ schemas }) => schemas[schema]?.dead ?? 0));
      const cells = [tables / MB, first.tables, final.tables, indexes / MB, first.indexes, final.indexes, dead];
      return [schema, ...cells.map(significant)];
    }),
  };
}

const latencyTable = (steady: Steady): Table => ({
  title: 'Creations, and events from PAID to delivered, in ms',
  columns: ['quarter', 'creations/s', 'p50', 'p99', 'events/s', 'p50', 'p99'],
  rows: QUARTERS.map((quarter) => {
    const { creations, events } = latenciesIn(steady, quarter);
    const cells = ({ count, p50, p99 }: Latencies) => [(count * 4_000) / steady.durationMs, p50, p99];
    return [String(quarter + 1), ...[...cells(creations), ...cells(events)].map(significant)];
  }),
});

function queueTable({ samples }: Steady): Table {
  const names = [...new Set(samples.flatMap(({ queues }) => Object.keys(queues)))];
  const rows = names.map((name) => {
    const lengths = samples.map(({ queues }) => queues[name] ?? 0);
    return { name, longest: Math.max(...lengths), last: lengths.at(-1) ?? 0 };
  });
  const used = rows.filter(({ longest }) => longest > 0).sort((a, b) => b.longest - a.longest);
  return {
    title: 'Queues in which something waited at a sample, the longest first',
    columns: ['queue', 'longest', 'at the end'],
    rows: used.map(({ name, longest, last }) => [name, significant(longest), significant(last)]),
  };
}

const recoveryTable = ({ recoveries }: EnduranceMeasurements): Table => ({
  title: 'Seconds from kill -9',
  columns: ['process', 'ready', 'a creation', 'an event', 'requests failed'],
  rows: recoveries.map(({ service, ready, creation, event, failed }) => [
    service,
    ...[ready, creation, event, failed].map(significant),
  ]),
});
