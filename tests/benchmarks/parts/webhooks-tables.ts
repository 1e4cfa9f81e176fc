import type { Aim, Table } from '../benchmark.ts';
import type { Latencies } from '../support/latencies.ts';
import { renderSpread, significant } from '../support/report.ts';
import { ratioOf, spreadOf, type Round, type Spread } from '../support/rounds.ts';
import { comparedTo } from '../support/sound-baselines.ts';
import {
  cpuTable,
  medianCell,
  namesOf,
  rateOf,
  ratioCell,
  rateTable,
  statementTable,
  walFigure,
} from '../support/tables.ts';
import { rooms, type ClaimStretch, type RoomName } from '../support/webhook-claims.ts';
import { stagesOf, type Stages } from '../support/webhook-journeys.ts';
import { neighbourhoods, type NeighbourMeasurement } from '../support/webhook-neighbours.ts';
import type { RateMeasurement } from '../support/webhook-rates.ts';
import type { ClaimsMeasured, JourneysMeasured, RatesMeasured, WebhookMeasurements } from './webhooks.ts';

export const OURS = 'webhook-dispatcher';
const RATE_AIMS = { raw: 0.5, 'graphile-worker': 1, 'pg-boss': 1, BullMQ: 1 };
const JOURNEY_MS = 100;
const NEIGHBOUR_RATIO = 1.2;
const CLAIM_MS = 25;

const roomNames = Object.keys(rooms) as RoomName[];

export function webhookAims({ rates, journeys, neighbours, claims }: WebhookMeasurements): Aim[] {
  return [
    ...(rates ? rateAims(rates) : []),
    ...(journeys ? journeyAims(journeys) : []),
    ...(neighbours ? neighbourAims(neighbours.rounds) : []),
    ...(claims ? claimAims(claims) : []),
  ];
}

/** Without BullMQ on a machine that has no Redis. */
const rateAimsOf = (rounds: readonly Round[]): [contender: string, atLeast: number][] =>
  Object.entries(RATE_AIMS).filter(([contender]) => namesOf(rounds).includes(contender));

const rateAims = ({ rounds }: RatesMeasured): Aim[] =>
  rateAimsOf(rounds).map(([contender, atLeast]) => ({
    what: `webhooks/s, to ${contender}`,
    atLeast,
    ...comparedTo(rounds, rateOf, OURS, contender),
  }));

/** All payments together decide, because a median of six rounds would hide a bad one. */
const journeyAims = ({ rounds, wanted, aSecond }: JourneysMeasured): Aim[] => [
  {
    what: 'payments a second that this machine can keep',
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
  'raw: undici with the same limits, the same hosts and the same number at once (1,024), each signed; no database, nothing is remembered.',
  'graphile-worker and pg-boss send by the same code, with endpoint and key in memory and their jobs in the same PostgreSQL; every commit',
  'waits for the disk. graphile-worker: 1,024 jobs at once, localQueue of 2,048, completeJobBatchDelay 0. pg-boss: 4 workers with batches',
  'of 256 and burstWhenBatchFull; a batch has one outcome, which is less than we store. We store each attempt, and decrypt a key for each.',
  'BullMQ: 1,024 jobs at once, in a Redis that flushes its file once a second, as BullMQ recommends: no job waits for the disk, and none is',
  'added in a transaction of PostgreSQL. "database" is the CPU time of PostgreSQL or Redis; WAL bytes are those of PostgreSQL.',
  'A run lasts from the first arrival at the receiver until the last event is stored as delivered. Ratios are medians of the rounds',
  '(least–greatest). µs is CPU time for one event; "sender" is the process in the first column.',
];

const journeyNotes = [
  "Payments become PAID one by one, each in a transaction with payments' outbox; the relay, the broker and the dispatcher are the real ones.",
  '"until stored" ends when the transaction that stores the event begins; "from then" ends when its POST is at the receiver. Commit and',
  'arrival are read on the monotonic clock of the machine, to the microsecond. Only the point between them is on the clock of the database,',
  'which is aligned to some hundredths of a millisecond. p50, p99 and max of all payments (rounds of 10 s: least–greatest).',
];

const neighbourNotes = [
  '200 quiet merchants with one payment a second each: alone; while another receiver takes events and never answers, with 1,000 due; and',
  'while another merchant has 100,000 due, whose receiver answers after 5 ms. From commit to arrival; ratios are of p99s in one round.',
];

const claimNotes = [
  'Claims: 10,000 lanes. One has a tenth of all deliveries, all due; 4,000 have another tenth, also due; the others are due in hours. A',
  'claim is claimDeliveries with its round trip, by a process without deliveries in flight, and by one that has just settled a batch of',
  '100. "select 1" shows the share of the machine. Statements that begin with › ran in a function and are part of its call.',
];

/** How to read the tables. */
export const webhookNotes = ({ rates, journeys, neighbours, claims }: WebhookMeasurements): string[] => [
  ...(rates ? rateNotes : []),
  ...(journeys ? journeyNotes : []),
  ...(neighbours ? neighbourNotes : []),
  ...(claims ? claimNotes : []),
];

const CPU_OF_RATES = 'CPU µs of each process for one webhook';
const PROCESSES = ['sender', 'database', 'receiver'];

export function webhookTables({ rates, journeys, neighbours, claims }: WebhookMeasurements): Table[] {
  return [
    ...(rates
      ? [ratesTable(rates), cpuTable(CPU_OF_RATES, rates.rounds, PROCESSES), statementTable(rates.statements)]
      : []),
    ...(journeys ? [journeyTable(journeys), journeyCpuTable(journeys), statementTable(journeys.statements)] : []),
    ...(neighbours ? [neighbourTable(neighbours.rounds)] : []),
    ...(claims ? [claimTable(claims), statementTable(claims.statements)] : []),
  ];
}

const ratesTable = ({ rounds }: RatesMeasured): Table =>
  rateTable({
    ...{
      title: 'Webhooks, delivered and stored',
      rounds,
      units: 'events',
      baselines: rateAimsOf(rounds).map(([name]) => name),
    },
    figures: { ...walFigure, handshakes: (measurement) => (measurement as RateMeasurement).handshakes },
  });

function journeyTable({ rounds, aSecond, seconds }: JourneysMeasured): Table {
  const whole = stagesOf(rounds.flat());
  const parts = rounds.map(stagesOf);
  const cell = (of: (stages: Stages) => number): string => renderSpread({ ...over(parts, of), median: of(whole) });
  const stages = { 'until stored': 'stored', 'from then': 'sent', together: 'together' } as const;
  const achieved = Math.round(whole.together.count / seconds);
  return {
    title: `From the commit of PAID until the POST, ms; ${aSecond} a second for ${Math.round(seconds)} s (${achieved} a second achieved)`,
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
    title: 'CPU of each process for one payment, µs, and share of a core, %',
    columns: ['', ...processes.map(([name]) => name)],
    rows: [
      ['µs', ...processes.map(([, us]) => significant(us === null ? null : us / rounds.flat().length))],
      ['%', ...processes.map(([, us]) => significant(us === null ? null : us / seconds / 1e4))],
    ],
  };
}

function neighbourTable(rounds: readonly Round[]): Table {
  const p99 = (name: string, stage: 'stored' | 'sent'): string =>
    medianCell(rounds, name, (measurement) => (measurement as NeighbourMeasurement).stages[stage].p99);
  const ofACore = (name: string, process: string): string =>
    medianCell(rounds, name, ({ cpuUs, rate, units }) => ((cpuUs[process] ?? Number.NaN) * rate) / units / 1e4);
  return {
    title: 'Quiet merchants: from the commit of PAID until the POST, ms; and % of a core',
    columns: ['', 'p50', 'p99', 'to alone', 'until stored, p99', 'from then, p99', 'dispatcher %', 'postgres %'],
    rows: neighbourhoods.map((name) => [
      name,
      medianCell(rounds, name, ({ p50Ms }) => p50Ms),
      medianCell(rounds, name, ({ p99Ms }) => p99Ms),
      ratioCell(rounds, ({ p99Ms }) => p99Ms, name, 'alone'),
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
