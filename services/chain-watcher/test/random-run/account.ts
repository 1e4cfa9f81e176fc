import type { ReplicaStep } from './plan.ts';
import type { Observed } from './transfer-queue.ts';
import type { Evidence } from './judge.ts';
import { honestFaults } from './plan-faults.ts';
import type { ToldTransfer } from './replay.ts';
import { CONFIRMATIONS, confirmationsFor, type RandomWorld } from './world.ts';

/** How often each thing happened, by its name. */
export type Counts = Map<string, number>;

/** What a run must have done at least each minute to be meaningful. */
const wantedPerMinute: Record<string, number> = {
  'blocks made': 60,
  'transfers that must be known': 40,
  'wallets watched': 8,
  'payments announced late': 4,
  reorganisations: 4,
  'messages received': 60,
  'received: retracted': 2,
  'transactions moved by a reorganisation': 3,
  'transactions replaced by a reorganisation': 1,
  // Where several blocks are read at once, few are asked.
  'requests to endpoints': 50,
  'answers spoilt': 10,
};

/** What every run must have done, and what a long one must. */
const wantedOnce = ['replicas killed', 'replicas paused', 'reorganisations deeper than the confirmations'];
const wantedInLongRuns = [
  ...['replicas terminated', 'nested reorganisations', 'messages repeated', 'wallets no longer watched'],
  ...[
    'confirmed transfers taken back',
    'zero or foreign transfers to watched wallets',
    'transfers in the same transaction',
  ],
  ...honestFaults.map((fault) => `answers spoilt: ${fault}`),
];
const LONG_MS = 300_000;

export function missing(counts: Counts, durationMs: number, isFast: boolean): string[] {
  const minutes = durationMs / 60_000;
  const wanted = [
    ...Object.entries(wantedPerMinute).map(([name, each]) => [name, Math.floor(each * minutes)] as const),
    ...wantedOnce.map((name) => [name, 1] as const),
    ...(isFast ? [['requests for several blocks at once', 5] as const] : []),
    ...(durationMs >= LONG_MS ? wantedInLongRuns.map((name) => [name, 1] as const) : []),
  ];
  return wanted
    .filter(([name, least]) => (counts.get(name) ?? 0) < least)
    .map(([name, least]) => `${name}: ${counts.get(name) ?? 0} instead of at least ${least}`);
}

export const describe = (counts: Counts): string[] =>
  [...counts].map(([name, count]) => `  ${String(count).padStart(8)}  ${name}`);

/** @param mustBeKnown the transfers that the service had to find. */
export function countsOf(world: RandomWorld, evidence: Evidence, mustBeKnown: readonly ToldTransfer[]): Counts {
  return new Map([
    ...chainCounts(world, evidence),
    ['transfers that must be known', mustBeKnown.length],
    ['of those, large ones', mustBeKnown.filter(({ units }) => confirmationsFor(units) > CONFIRMATIONS).length],
    ['transfers in the same transaction', mustBeKnown.filter(({ position }) => position > 0).length],
    ...serviceCounts(world, evidence),
    ...endpointCounts(world),
  ]);
}

function chainCounts({ maker, announcer }: RandomWorld, { told, spans, chronicle, token }: Evidence): Counts {
  const { blocks, transactions, reorgsByDepth, nested, moved, replaced } = maker.counts;
  const watched = new Set(spans.map(({ wallet }) => wallet.slice(2)));
  const logs = [...chronicle.all()].flatMap(({ receipts }) => receipts.flatMap((receipt) => receipt.logs));
  const poison = logs.filter(
    ({ address, topics, data }) =>
      watched.has(topics[2]?.slice(-40) ?? '') &&
      (address.toLowerCase() !== token.toLowerCase() || BigInt(data) === 0n),
  );
  const depths = [...reorgsByDepth].sort(([a], [b]) => a - b);
  const sum = (entries: [number, number][]) => entries.reduce((total, [, count]) => total + count, 0);
  return new Map([
    ['blocks made', blocks],
    ['transactions sent', transactions],
    ['transfers in the chain at the end', told.length],
    ['zero or foreign transfers to watched wallets', poison.length],
    ['reorganisations', sum(depths)],
    ...depths.map(([depth, count]) => [`reorganisations ${depth} deep`, count] as const),
    ['reorganisations deeper than the confirmations', sum(depths.filter(([depth]) => depth > CONFIRMATIONS))],
    ['nested reorganisations', nested],
    ['transactions moved by a reorganisation', moved],
    ['transactions replaced by a reorganisation', replaced],
    ['wallets watched', watched.size],
    ['payments announced', announcer.counts.created],
    ['payments announced late', announcer.counts.late],
    ['payments announced for a short time', announcer.counts.shortLived],
    ['payments closed', announcer.counts.closed],
    ['messages repeated', announcer.counts.again],
  ]);
}

const names: Record<ReplicaStep['kind'], string> = { kill: 'killed', terminate: 'terminated', pause: 'paused' };

function serviceCounts({ keeper }: RandomWorld, { received, stored, chronicle }: Evidence): Counts {
  const observed = [...new Map(received.map((one) => [one.messageId, one.message])).values()];
  const of = (phase: string) => observed.filter((one) => one.phase === phase);
  const confirmed = new Set(
    of('confirmed').map((one) => `${one.transaction_id} ${one.transaction_event_index} ${one.version}`),
  );
  const takenBack = of('retracted').filter((one) =>
    confirmed.has(`${one.transaction_id} ${one.transaction_event_index} ${one.version - 1}`),
  );
  const isStale = ({ block_hash }: Observed) => chronicle.find(block_hash)?.everOrphaned === false;
  return new Map([
    ...(['kill', 'terminate', 'pause'] as const).map(
      (kind) => [`replicas ${names[kind]}`, keeper.counts[kind]] as const,
    ),
    ['of those, leaders', keeper.counts.ofLeader],
    ['terms of leaders', stored.cursor?.epoch ?? 0],
    ['messages received', received.length],
    ['received more than once', received.length - observed.length],
    ...(['seen', 'confirmed', 'retracted'] as const).map((phase) => [`received: ${phase}`, of(phase).length] as const),
    ['confirmed transfers taken back', takenBack.length],
    ['taken back because of a node that was behind', of('retracted').filter(isStale).length],
    ['wallets no longer watched', stored.watches.find(({ state }) => state === 'ended')?.count ?? 0],
    ...[...Map.groupBy(stored.incidents, ({ kind }) => kind)].map(
      ([kind, incidents]) => [`incidents: ${kind}`, incidents.length] as const,
    ),
  ]);
}

function endpointCounts({ endpoints }: RandomWorld): Counts {
  const spoilt = new Map<string, number>();
  for (const [fault, count] of endpoints.flatMap((endpoint) => [...endpoint.spoilt]))
    spoilt.set(fault, (spoilt.get(fault) ?? 0) + count);
  return new Map([
    ['requests to endpoints', endpoints.reduce((total, endpoint) => total + endpoint.requests(), 0)],
    ['requests for several blocks at once', endpoints.reduce((total, endpoint) => total + endpoint.requestsAhead(), 0)],
    ['answers spoilt', [...spoilt.values()].reduce((total, count) => total + count, 0)],
    ...[...spoilt].map(([fault, count]) => [`answers spoilt: ${fault}`, count] as const),
  ]);
}
