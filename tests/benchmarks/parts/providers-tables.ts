import type { Aim, Table } from '../benchmark.ts';
import { callKinds, costOf, totalCalls, type CallKind, type EndpointCounts } from '../support/provider-counts.ts';
import { situations, type NetworkUse, type ProviderMeasurements, type Situation } from '../support/provider-use.ts';
import { latenciesOf } from '../support/latencies.ts';
import { significant } from '../support/report.ts';
import { spreadOf, type Spread } from '../support/rounds.ts';

const DAY_SECONDS = 86_400;

/** For a day at the first endpoint. `medianSeconds`: from a new block until the message of its transfer. */
type NetworkAims = { calls?: number; requests?: number; units?: number; medianSeconds: number };

/**
 * While payments wait. Where a block takes 2 s or more, news may not take longer than with one poll a second: half a second, four
 * round trips, and what a busy machine adds.
 */
const waitingAims: Record<string, NetworkAims> = {
  ethereum: { calls: 30_000, units: 800_000, medianSeconds: 0.9 },
  tron: { requests: 60_000, medianSeconds: 0.9 },
  polygon: { calls: 130_000, medianSeconds: 0.9 },
  base: { calls: 130_000, medianSeconds: 0.9 },
  bnb: { calls: 220_000, medianSeconds: 2.5 },
  arbitrum: { calls: 400_000, medianSeconds: 2.5 },
};
const CALLS_WITHOUT_PAYMENTS = 5_000;

export const providerNotes = [
  'Every network has two endpoints, which answer after 40 ms and compress for clients that accept it. Figures of a day are extrapolated',
  'from the counted time. What each reported transfer costs at the first endpoint is left out, because shops have fewer: one receipt, or',
  "where blocks are proven the receipts of its block and the block's header. The second endpoint then shows a head, a final block and the",
  "transfer's block to confirm it; these calls are counted. Units are those of the price lists",
  'of Alchemy (compute units; free: 30 million a month) and Infura (credits; free: 3 million a day). MB are bodies as transmitted.',
  'News: seconds from a new block until the message of its transfer is in RabbitMQ.',
];

export function providerTables(measured: ProviderMeasurements): Table[] {
  return measured.flatMap(({ situation, uses }) => [
    costTable(situation, uses),
    kindTable(situation, uses, 0),
    kindTable(situation, uses, 1),
  ]);
}

export function providerAims(measured: ProviderMeasurements): Aim[] {
  return measured.flatMap(({ situation, uses }) => uses.flatMap((use) => aimsOf(situation, use)));
}

function aimsOf(situation: Situation, use: NetworkUse): Aim[] {
  const { calls, requests, units } = dayAt(use, 0);
  const aim = (what: string, figure: number, atMost: number): Aim => {
    return { what: `${situation}, ${use.id}: ${what}`, atMost, measured: { median: figure, min: figure, max: figure } };
  };
  if (!situations[situation].payments) return [aim('calls a day', calls, CALLS_WITHOUT_PAYMENTS)];
  const aims = waitingAims[use.id];
  if (aims === undefined) return [];
  return [
    ...(aims.calls === undefined ? [] : [aim('calls a day', calls, aims.calls)]),
    ...(aims.requests === undefined ? [] : [aim('requests a day', requests, aims.requests)]),
    ...(aims.units === undefined ? [] : [aim("Alchemy's units a day", units.alchemy, aims.units)]),
    {
      what: `${situation}, ${use.id}: seconds from block to message`,
      ...{ atMost: aims.medianSeconds, measured: secondsOf(use) },
    },
  ];
}

const secondsOf = ({ latenciesMs }: NetworkUse): Spread =>
  latenciesMs.length === 0 ? { median: NaN, min: NaN, max: NaN } : spreadOf(latenciesMs.map((ms) => ms / 1000));

type Day = { calls: number; requests: number; megabytes: number; units: { alchemy: number; infura: number } };

function dayAt(use: NetworkUse, endpoint: 0 | 1): Day {
  const counts = withoutNews(use, endpoint);
  const share = DAY_SECONDS / use.seconds;
  const { alchemy, infura } = costOf(counts);
  return {
    calls: totalCalls(counts) * share,
    requests: counts.requests * share,
    megabytes: (counts.bytes * share) / 1e6,
    units: { alchemy: alchemy * share, infura: infura * share },
  };
}

/** What a transfer to a watched wallet costs at the endpoint that shows it, in one request. */
const callsOfNews = (isProven: boolean): readonly CallKind[] =>
  isProven ? ['receipts of a block', 'block by number'] : ['receipt'];

/** These chains pay far more often than a shop is paid. */
function withoutNews({ endpoints, latenciesMs, isProven }: NetworkUse, endpoint: 0 | 1): EndpointCounts {
  const { calls, requests, ...counts } = endpoints[endpoint];
  const kinds = callsOfNews(isProven);
  const ofNews = Math.min(latenciesMs.length, ...kinds.map((kind) => calls[kind] ?? 0));
  const left = Object.fromEntries(kinds.map((kind) => [kind, (calls[kind] ?? 0) - ofNews]));
  return { ...counts, requests: requests - ofNews, calls: { ...calls, ...left } };
}

function costTable(situation: Situation, uses: NetworkUse[]): Table {
  return {
    title: `${situations[situation].title}: a day at the first endpoint`,
    columns: ['', 'calls', 'requests', 'MB', 'Alchemy', 'Infura', "second's calls", 'news', 'median s', 'p99 s'],
    rows: uses.map((use) => {
      const { calls, requests, megabytes, units } = dayAt(use, 0);
      const { median } = secondsOf(use);
      return [
        ...[use.id, significant(calls), significant(requests), significant(megabytes)],
        ...[significant(units.alchemy), significant(units.infura), significant(dayAt(use, 1).calls)],
        `${use.latenciesMs.length}/${use.payingBlocks}`,
        ...[significant(median), significant(latenciesOf(use.latenciesMs).p99 / 1000)],
      ];
    }),
  };
}

function kindTable(situation: Situation, uses: NetworkUse[], endpoint: 0 | 1): Table {
  const counted = uses.map((use) => ({ use, counts: withoutNews(use, endpoint) }));
  const kinds = callKinds.filter((kind) => counted.some(({ counts }) => (counts.calls[kind] ?? 0) > 0));
  const daily = ({ use, counts }: (typeof counted)[number], kind: CallKind): string =>
    significant(((counts.calls[kind] ?? 0) * DAY_SECONDS) / use.seconds);
  return {
    title: `${situations[situation].title}: calls a day at the ${endpoint === 0 ? 'first' : 'second'} endpoint`,
    columns: ['', ...kinds],
    rows: counted.map((one) => [one.use.id, ...kinds.map((kind) => daily(one, kind))]),
  };
}
