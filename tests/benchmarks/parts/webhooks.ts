import pg from 'pg';
import type { BenchmarkContext, Part } from '../benchmark.ts';
import { startBackends, startBenchmarkRedis, type Backends } from '../support/backends.ts';
import { cpuUsOf, cpuUsOfFamily } from '../support/cpu.ts';
import { withCpu, type CpuCounters } from '../support/measure.ts';
import { postmasterOf, withCpuOfSessions } from '../support/postgres.ts';
import type { LoneService } from '../../support/lone-service.ts';
import { interleave, type Measurement, type Round } from '../support/rounds.ts';
import { compare } from '../support/sound-baselines.ts';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.ts';
import { countStatements } from '../support/statements.ts';
import type { CountedStatements } from '../support/tables.ts';
import { fillBacklog } from '../support/webhook-backlog.ts';
import { rooms, startClaims, type ClaimStretch, type RoomName } from '../support/webhook-claims.ts';
import { startDispatcherProcess } from '../support/webhook-dispatcher.ts';
import { carriedRate, payAndFollow, stagesOf, type Journey } from '../support/webhook-journeys.ts';
import { insertMerchants, makeMerchants, type WebhookMerchant } from '../support/webhook-merchants.ts';
import { neighbourContenders } from '../support/webhook-neighbours.ts';
import { startWebhookPayer, type WebhookPayer } from '../support/webhook-payer.ts';
import { startRates } from '../support/webhook-rates.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';
import { OURS, webhookAims, webhookNotes, webhookTables } from './webhooks-tables.ts';

const PASSWORD = 'only for a benchmark';
/**
 * `eventsASecond`: events of one run for each second of its length. `backlog`: filling takes minutes, so few rounds get fewer
 * deliveries. `busy`: a minute of payments, in rounds of ten seconds; a machine that can't keep the wanted rate is measured at the
 * rate it can keep. `neighbours`: one payment a second for each merchant, for `runs` times the length of a run, because a p99 needs many.
 */
const amounts = {
  full: {
    ...{ merchants: 200, warmUpMs: 3_000 },
    rates: { eventsASecond: 6_000, warmUpEvents: 4_000 },
    busy: { aSecond: 1_000, aRoundMs: 10_000, mostMs: 60_000 },
    neighbours: { runs: 4, hangingEvents: 1_000, backlogEvents: 100_000, settleInMs: 1_000 },
    claims: { backlog: { most: 10_000_000, aRound: 2_000_000 }, warmUp: 20, aRound: 200, counted: 100 },
  },
  smoke: {
    ...{ merchants: 20, warmUpMs: 300 },
    rates: { eventsASecond: 1_000, warmUpEvents: 50 },
    busy: { aSecond: 100, aRoundMs: 500, mostMs: 500 },
    neighbours: { runs: 2, hangingEvents: 50, backlogEvents: 500, settleInMs: 50 },
    claims: { backlog: { most: 40_000, aRound: 40_000 }, warmUp: 1, aRound: 3, counted: 2 },
  },
};
type Amounts = (typeof amounts)['full'];

export type ClaimsMeasured = {
  deliveries: number;
  rounds: Record<RoomName, ClaimStretch>[];
  statements: CountedStatements;
};
export type RatesMeasured = { rounds: Round[]; statements: CountedStatements };
export type JourneysMeasured = {
  statements: CountedStatements;
  /** Payments a second: the wanted rate, and the rate that the machine could keep. */
  wanted: number;
  aSecond: number;
  seconds: number;
  rounds: Journey[][];
  cpuUs: Measurement['cpuUs'];
};
/** By part; without parts that were not wanted or failed. */
export type WebhookMeasurements = {
  rates?: RatesMeasured | undefined;
  journeys?: JourneysMeasured | undefined;
  neighbours?: { rounds: Round[] } | undefined;
  claims?: ClaimsMeasured | undefined;
};

const parts = ['rates', 'journeys', 'neighbours', 'claims'] as const;

export const webhooks: Part = {
  name: 'webhooks',
  on: 'backends',
  short: { parts: ['rates', 'journeys', 'neighbours'] },
  about:
    'events delivered a second, compared with a plain loop of POSTs and three job queues; how soon they arrive; claims from a backlog',
  parts,
  async run(context) {
    const { say, wants, attempt, scale } = context;
    const sizes = amounts[scale];
    say('  starting PostgreSQL and RabbitMQ …');
    const backends = await startBackends('webhooks', context);
    const measured: WebhookMeasurements = {};
    if (wants('rates', 'journeys', 'neighbours')) {
      const system = await startSystem(context, backends, sizes.merchants);
      if (wants('rates')) measured.rates = await attempt('rates', () => measureRates(context, system, sizes));
      if (wants('journeys'))
        measured.journeys = await attempt('journeys', () => measureJourneys(context, system, sizes));
      if (wants('neighbours'))
        measured.neighbours = await attempt('neighbours', () => measureNeighbours(context, system, sizes));
    }
    if (wants('claims')) measured.claims = await attempt('claims', () => measureClaims(context, backends, sizes));
    return {
      tables: webhookTables(measured),
      notes: webhookNotes(measured),
      aims: webhookAims(measured),
      measurements: forFile(measured),
    };
  },
};

type System = Backends & {
  database: ServiceDatabase;
  /** The superuser's connection, search path webhooks. */
  db: pg.Client;
  merchants: WebhookMerchant[];
  receiver: WebhookReceiver;
  dispatcher: LoneService;
  payer: WebhookPayer;
};

/** One dispatcher with its database, its broker and the endpoints of merchants who always get events. */
async function startSystem({ onEnd }: BenchmarkContext, backends: Backends, merchantCount: number): Promise<System> {
  const { directory, adminUrl, broker } = backends;
  const database = await backlogDatabase(adminUrl, 'webhooks');
  const db = new pg.Client({ connectionString: database.adminUrl, options: '-c search_path=webhooks' });
  await db.connect();
  onEnd(() => db.end());
  const merchants = makeMerchants(merchantCount);
  await insertMerchants(db, merchants);
  const receiver = await startWebhookReceiver(directory);
  onEnd(() => receiver.close());
  const amqpUrl = await broker.addVirtualHost('webhooks');
  const dispatcher = await startDispatcherProcess({ directory, receiver, databaseUrl: database.url, amqpUrl });
  onEnd(() => dispatcher.stop());
  const payments = await serviceDatabase({ service: 'payments', adminUrl, database: 'payments', password: PASSWORD });
  const merchantIds = merchants.map(({ merchantId }) => merchantId);
  const payer = await startWebhookPayer({ databaseUrl: payments.url, amqpUrl, merchantIds });
  onEnd(() => payer.close());
  return { ...backends, database, db, merchants, receiver, dispatcher, payer };
}

const backlogDatabase = (adminUrl: string, database: string): Promise<ServiceDatabase> =>
  serviceDatabase({ service: 'webhook-dispatcher', adminUrl, database, password: PASSWORD });

async function measureRates(
  { onEnd, rounds, runMs, scale, say }: BenchmarkContext,
  system: System,
  { rates: { eventsASecond, warmUpEvents } }: Amounts,
): Promise<RatesMeasured> {
  const { adminUrl, db, merchants, receiver, dispatcher } = system;
  const redis = await startBenchmarkRedis(system.directory, { onEnd, say });
  const contenders = await startRates({
    ...{ adminUrl, redis, db, merchants, receiver, dispatcherPid: dispatcher.pid, onEnd },
  });
  const events = Math.round((eventsASecond * runMs) / 1000);
  say(`  rates: warming up, then ${rounds} rounds of ${events} events for each …`);
  await interleave(contenders(warmUpEvents), 1);
  const compared = contenders(events);
  const baselines = compared.map(({ name }) => name).filter((name) => name !== OURS);
  const measured = await compare({ rounds, scale, say }, compared, baselines);
  say('  counting statements …');
  const [ours] = contenders(events);
  const costs = await countStatements(adminUrl, async () => ours?.measure(), 'all');
  return {
    rounds: measured,
    statements: { title: 'SQL for one delivered event', units: events, costs },
  };
}

async function measureJourneys(
  { rounds, say }: BenchmarkContext,
  system: System,
  { busy, warmUpMs }: Amounts,
): Promise<JourneysMeasured> {
  const { aSecond: wanted, aRoundMs, mostMs } = busy;
  const durationMs = Math.min(mostMs, rounds * aRoundMs);
  say(`  journeys: warming up with ${wanted} payments a second …`);
  const aSecond = await carriedRate(system, { aSecond: wanted, durationMs: warmUpMs });
  if (aSecond < wanted) say(`  this machine carries ${aSecond} payments a second, not ${wanted}`);
  say(`  journeys: ${aSecond} payments a second for ${durationMs / 1000} s …`);
  await system.db.query('vacuum analyze');
  const follow = () => payAndFollow(system, { aSecond, durationMs });
  const { result: followed, cpuUs } = await withCpu(await countersOf(system), () =>
    withCpuOfSessions(system.adminUrl, follow),
  );
  const { journeys, seconds } = followed.result;
  say('  counting statements …');
  const counted = { aSecond, durationMs: warmUpMs };
  const costs = await countStatements(system.adminUrl, () => payAndFollow(system, counted), 'all');
  const units = Math.round((aSecond * warmUpMs) / 1000);
  const ofARound = Math.ceil((journeys.length * aRoundMs) / durationMs);
  return {
    ...{ wanted, aSecond, seconds, cpuUs: { ...cpuUs, ...followed.cpuUs } },
    rounds: Array.from({ length: Math.ceil(durationMs / aRoundMs) }, (_, round) =>
      journeys.slice(round * ofARound, (round + 1) * ofARound),
    ),
    statements: { title: 'SQL from PAID to the delivered event', units, costs },
  };
}

async function countersOf({ adminUrl, broker, dispatcher, payer, receiver }: System): Promise<CpuCounters> {
  const postmaster = await postmasterOf(adminUrl);
  return {
    payments: () => cpuUsOf(payer.pid),
    broker: () => cpuUsOf(broker.pid ?? 0),
    'webhook-dispatcher': () => cpuUsOf(dispatcher.pid),
    postgres: () => cpuUsOfFamily(postmaster),
    receiver: () => cpuUsOf(receiver.pid),
  };
}

async function measureNeighbours(
  { rounds, runMs, say }: BenchmarkContext,
  system: System,
  { merchants: aSecond, warmUpMs, neighbours }: Amounts,
): Promise<{ rounds: Round[] }> {
  say(`  neighbours: warming up, then ${rounds} rounds …`);
  await payAndFollow(system, { aSecond, durationMs: warmUpMs });
  const paying = { aSecond, durationMs: neighbours.runs * runMs };
  const contenders = neighbourContenders(system, paying, neighbours, await countersOf(system));
  return { rounds: await interleave(contenders, rounds) };
}

async function measureClaims(
  { onEnd, rounds, say }: BenchmarkContext,
  backends: Backends,
  { claims: { backlog, warmUp, aRound, counted } }: Amounts,
): Promise<ClaimsMeasured> {
  const { adminUrl } = backends;
  const deliveries = Math.min(backlog.most, rounds * backlog.aRound);
  say(`  claims: filling a database with ${deliveries.toLocaleString('en-US')} pending deliveries …`);
  const database = await backlogDatabase(adminUrl, 'claims');
  await fillBacklog(database.adminUrl, deliveries);
  const claims = startClaims(database.url);
  onEnd(() => claims.close());
  const names = Object.keys(rooms) as RoomName[];
  for (const name of names) await claims.claim(name, warmUp);
  const measured: ClaimsMeasured['rounds'] = [];
  say(`  claims: ${rounds} rounds …`);
  for (let round = 0; round < rounds; round += 1) {
    const stretches: Partial<Record<RoomName, ClaimStretch>> = {};
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      stretches[name] = await claims.claim(name, aRound);
    }
    measured.push(stretches as Record<RoomName, ClaimStretch>);
  }
  const costs = await countStatements(adminUrl, () => claims.claim('a batch was settled', counted), 'all');
  const title = 'SQL for one claim and its settling, a batch was settled';
  return { deliveries, rounds: measured, statements: { title, units: counted, costs } };
}

/** With latencies instead of the tens of thousands of journeys. */
function forFile({ journeys, ...others }: WebhookMeasurements): unknown {
  if (journeys === undefined) return others;
  const { rounds, ...rest } = journeys;
  return { ...others, journeys: { ...rest, rounds: rounds.map(stagesOf) } };
}
