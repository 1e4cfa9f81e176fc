import type { Aim, Table } from './benchmark.ts';
import type { Latencies } from './support/latencies.ts';
import { renderSpread, shortened, significant } from './support/report.ts';
import {
  cpuUsPerUnit,
  measurementOf,
  ratioOf,
  spreadOf,
  type Measurement,
  type Round,
  type Spread,
} from './support/rounds.ts';
import type { StatementCost } from './support/statements.ts';
import { rooms, type ClaimStretch, type RoomName } from './support/webhook-claims.ts';
import { stagesOf, type Stages } from './support/webhook-journeys.ts';
import { neighbourhoods, type NeighbourMeasurement } from './support/webhook-neighbours.ts';
import type { RateMeasurement } from './support/webhook-rates.ts';
import type {
  ClaimsMeasured,
  CountedStatements,
  JourneysMeasured,
  RatesMeasured,
  WebhookMeasurements,
} from './webhooks.bench.ts';

const OURS = 'webhook-dispatcher';
const RATE_AIMS = { raw: 0.5, 'graphile-worker': 1, 'pg-boss': 1 };
const JOURNEY_MS = 100;
const NEIGHBOUR_RATIO = 1.2;
const CLAIM_MS = 25;

const rateOf = ({ rate }: Measurement): number => rate;
const roomNames = Object.keys(rooms) as RoomName[];

export function webhookAims({ rates, journeys, neighbours, claims }: WebhookMeasurements): Aim[] {
  return [
    ...(rates ? rateAims(rates) : []),
    ...(journeys ? journeyAims(journeys) : []),
    ...(neighbours ? neighbourAims(neighbours.rounds) : []),
    ...(claims ? claimAims(claims) : []),
  ];
}

const rateAims = ({ rounds }: RatesMeasured): Aim[] =>
  Object.entries(RATE_AIMS).map(([contender, atLeast]) => ({
    what: `webhooks/s, to ${contender}`,
    atLeast,
    measured: ratioOf(rounds, rateOf, OURS, contender),
  }));

/** All payments together decide: one bad part in six must not hide behind the median of the parts. */
const journeyAims = ({ rounds, wanted, aSecond }: JourneysMeasured): Aim[] => [
  {
    what: 'payments a second that this machine carries',
    atLeast: wanted,
    measured: { median: aSecond, min: aSecond, max: aSecond },
  },
  {
    what: `p99 ms from the commit of PAID until the POST, ${aSecond.toLocaleString('en-US')} a second`,
    atMost: JOURNEY_MS,
    measured: {
      ...over(rounds.map(stagesOf), ({ together }) => together.p99),
      median: stagesOf(rounds.flat()).together.p99,
    },
  },
];

const neighbourAims = (rounds: readonly Round[]): Aim[] =>
  neighbourhoods
    .filter((name) => name !== 'alone')
    .map((name) => ({
      what: `p99 of the others ${name}, to alone`,
      atMost: NEIGHBOUR_RATIO,
      measured: ratioOf(rounds, ({ p99Ms }) => p99Ms, name, 'alone'),
    }));

const claimAims = ({ rounds, deliveries }: ClaimsMeasured): Aim[] =>
  roomNames.map((name) => ({
    what: `p99 ms of a claim with ${deliveries.toLocaleString('en-US')} pending, ${name}`,
    atMost: CLAIM_MS,
    measured: over(rounds, (round) => round[name].claim.p99),
  }));

const rateNotes = [
  'raw: undici with the same settings, the same hosts and as many at once (1,024), each signed; no database, nothing is remembered.',
  'graphile-worker and pg-boss send by the same code, endpoint and key in memory, their jobs in the same PostgreSQL, every commit',
  'waiting for the disk. graphile-worker: 1,024 jobs at once, localQueue of 2,048, completeJobBatchDelay 0. pg-boss: 4 workers with batches',
  'of 256 and burstWhenBatchFull; a batch is one outcome, which is less than we keep. We store each attempt, and open a key for each.',
  'A run is timed from the first arrival at the receiver until the last event is on record as delivered. Ratios are medians of the',
  'rounds (least–greatest). µs is CPU time for one event; "sender" is the process in the first column.',
];

const journeyNotes = [
  "Payments become PAID one by one, each in a transaction of its own with payments' outbox; the relay, the broker and the dispatcher are",
  'the real ones. "until stored" ends when the transaction that stores the event begins; "from then" when its POST is at the receiver.',
  'Commit and arrival are read on the one monotonic clock of the machine, fine to the microsecond; only the point between them is on the',
  "database's clock, set against the other to within some hundredths of a millisecond. p50, p99 and max of all payments (parts of 10 s:",
  'least–greatest).',
];

const neighbourNotes = [
  '200 quiet merchants with a payment a second each, alone; while another receiver takes events and never answers, with 1,000 due; while',
  'another merchant has 100,000 due, whose receiver answers after 5 ms. From commit to arrival; the ratios are of p99s in one round.',
];

const claimNotes = [
  'Claims: 10,000 lanes; one has a tenth of all deliveries, all due, 4,000 have another tenth, due too, the others are due in hours. A claim',
  'is claimDeliveries with its round trip, by a process with all room free, and by one that has just settled a batch of 100. "select 1"',
  'says what of it is the machine. Statements that begin with › ran in a function, and are part of its call.',
];

/** How to read the tables that there are. */
export const webhookNotes = ({ rates, journeys, neighbours, claims }: WebhookMeasurements): string[] => [
  ...(rates ? rateNotes : []),
  ...(journeys ? journeyNotes : []),
  ...(neighbours ? neighbourNotes : []),
  ...(claims ? claimNotes : []),
];

export function webhookTables({ rates, journeys, neighbours, claims }: WebhookMeasurements): Table[] {
  return [
    ...(rates ? [rateTable(rates), rateCpuTable(rates), statementTable(rates.statements)] : []),
    ...(journeys ? [journeyTable(journeys), journeyCpuTable(journeys), statementTable(journeys.statements)] : []),
    ...(neighbours ? [neighbourTable(neighbours.rounds)] : []),
    ...(claims ? [claimTable(claims), statementTable(claims.statements)] : []),
  ];
}

const namesOf = (rounds: readonly Round[]): string[] => Object.keys(rounds[0] ?? {});
const median = (rounds: readonly Round[], name: string, of: (measurement: Measurement) => number): string =>
  significant(spreadOf(rounds.map((round) => of(measurementOf(round, name)))).median);

function rateTable({ rounds }: RatesMeasured): Table {
  const others = Object.keys(RATE_AIMS);
  return {
    title: 'Webhooks, delivered and on record',
    columns: ['', 'events/s', ...others.map((name) => `to ${name}`), 'WAL bytes', 'handshakes'],
    rows: namesOf(rounds).map((name) => [
      name,
      median(rounds, name, rateOf),
      ...others.map((other) => (other === name ? '1' : renderSpread(ratioOf(rounds, rateOf, name, other)))),
      median(rounds, name, ({ walBytes = Number.NaN, units }) => walBytes / units),
      median(rounds, name, (measurement) => (measurement as RateMeasurement).handshakes),
    ]),
  };
}

function rateCpuTable({ rounds }: RatesMeasured): Table {
  const processes = ['sender', 'postgres', 'receiver'];
  return {
    title: 'CPU µs of each process for one webhook',
    columns: ['', ...processes, 'all'],
    rows: namesOf(rounds).map((name) => {
      const spent = processes.map((process) => cpuUsPerUnit(rounds, name, process));
      const all = spent.every((us) => us !== null) ? spent.reduce((sum, us) => sum + us, 0) : null;
      return [name, ...[...spent, all].map(significant)];
    }),
  };
}

function journeyTable({ rounds, aSecond, seconds }: JourneysMeasured): Table {
  const whole = stagesOf(rounds.flat());
  const parts = rounds.map(stagesOf);
  const cell = (of: (stages: Stages) => number): string => renderSpread({ ...over(parts, of), median: of(whole) });
  const stages = { 'until stored': 'stored', 'from then': 'sent', together: 'together' } as const;
  const achieved = Math.round(whole.together.count / seconds);
  return {
    title: `From the commit of PAID until the POST, ms; ${aSecond} a second for ${Math.round(seconds)} s (${achieved} a second came about)`,
    columns: ['', 'p50', 'p99', 'max'],
    rows: Object.entries(stages).map(([title, stage]) => [
      title,
      cell((all) => all[stage].p50),
      cell((all) => all[stage].p99),
      cell((all) => all[stage].max),
    ]),
  };
}

function journeyCpuTable({ rounds, seconds, cpuUs }: JourneysMeasured): Table {
  const processes = Object.entries(cpuUs);
  return {
    title: 'CPU µs of each process for one of them, and of a core, %',
    columns: ['', ...processes.map(([name]) => name)],
    rows: [
      ['µs', ...processes.map(([, us]) => significant(us === null ? null : us / rounds.flat().length))],
      ['%', ...processes.map(([, us]) => significant(us === null ? null : us / seconds / 1e4))],
    ],
  };
}

function neighbourTable(rounds: readonly Round[]): Table {
  const p99 = (name: string, stage: 'stored' | 'sent'): string =>
    median(rounds, name, (measurement) => (measurement as NeighbourMeasurement).stages[stage].p99);
  const ofACore = (name: string, process: string): string =>
    median(rounds, name, ({ cpuUs, rate, units }) => ((cpuUs[process] ?? Number.NaN) * rate) / units / 1e4);
  return {
    title: 'Quiet merchants: from the commit of PAID until the POST, ms; and % of a core',
    columns: ['', 'p50', 'p99', 'to alone', 'until stored, p99', 'from then, p99', 'dispatcher %', 'postgres %'],
    rows: neighbourhoods.map((name) => [
      name,
      median(rounds, name, ({ p50Ms }) => p50Ms),
      median(rounds, name, ({ p99Ms }) => p99Ms),
      name === 'alone' ? '1' : renderSpread(ratioOf(rounds, ({ p99Ms }) => p99Ms, name, 'alone')),
      p99(name, 'stored'),
      p99(name, 'sent'),
      ofACore(name, 'webhook-dispatcher'),
      ofACore(name, 'postgres'),
    ]),
  };
}

const over = <T>(rounds: readonly T[], of: (round: T) => number): Spread => spreadOf(rounds.map(of));

function claimTable({ rounds, deliveries }: ClaimsMeasured): Table {
  const row = (name: RoomName, what: string, of: (stretch: ClaimStretch) => Latencies): string[] => [
    `${name}: ${what}`,
    renderSpread(over(rounds, (round) => of(round[name]).p50)),
    renderSpread(over(rounds, (round) => of(round[name]).p99)),
    significant(over(rounds, (round) => of(round[name]).max).max),
  ];
  return {
    title: `Claiming with ${deliveries.toLocaleString('en-US')} pending deliveries, ms`,
    columns: ['', 'p50', 'p99', 'max'],
    rows: roomNames.flatMap((name) => {
      const claimed = over(rounds, (round) => round[name].claimed / round[name].claim.count).median;
      return [
        row(name, `claim of ${Math.round(claimed)}`, ({ claim }) => claim),
        row(name, 'settling up to 100', ({ settle }) => settle),
        row(name, 'select 1', ({ roundTrip }) => roundTrip),
      ];
    }),
  };
}

function statementTable({ title, unit, units, costs }: CountedStatements): Table {
  const numbers: ((cost: StatementCost) => number)[] = [
    ({ calls }) => calls,
    ({ execUs }) => execUs,
    ({ walBytes }) => walBytes,
    ({ pages }) => pages,
  ];
  // What ran for less than a microsecond of each is no part of it: loops of the service go on meanwhile.
  const counted = costs
    .filter(({ execUs, query }) => execUs >= units && query !== 'select $1')
    .sort((a, b) => Number(a.nested) - Number(b.nested));
  const calls = counted.filter(({ nested }) => !nested);
  const each = (value: number): string => significant(value / units);
  return {
    title,
    columns: ['', `statements/${unit}`, 'execution µs', 'WAL bytes', 'pages'],
    rows: [
      ...counted.map((cost) => [
        `${cost.nested ? '› ' : ''}${cost.service}: ${shortened(cost.query)}`,
        ...numbers.map((of) => each(of(cost))),
      ]),
      ['all', ...numbers.map((of) => each(calls.reduce((sum, cost) => sum + of(cost), 0)))],
    ],
  };
}
