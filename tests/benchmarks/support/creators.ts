import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withDatabase } from '../../support/database.ts';
import type { JourneyStack } from '../../support/journey-stack.ts';
import type { BenchmarkContext } from '../benchmark.ts';
import { cpuUsOf, cpuUsOfFamily } from './cpu.ts';
import { NEW_WALLET_EVERY, oneByOne, pipelined } from './creation-script.ts';
import { seedGates, seedMerchants, seedMerchantsOfPgbench, type CreatingMerchant } from './creating-merchants.ts';
import { databaseClock, waitUntilHandled } from './drained.ts';
import type { LoadGenerator, LoadRequest } from './load.ts';
import { measureLoad, type CpuCounters } from './measure.ts';
import { INTERNAL_TOKEN } from '../../support/lone-service.ts';
import { NETWORK, startPaymentsProcess } from './payments-process.ts';
import { measurePgbench } from './pgbench.ts';
import { postmasterOf, requireDurable, walPosition, withCpuOfSessions } from './postgres.ts';
import type { Measurement } from './rounds.ts';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.ts';
import { benchmarkStack } from './stack.ts';
import { callAs } from '@quittance/local-stack/stack/call-as.ts';

/** Something that creates payments. */
export type Creator = {
  name: string;
  /** The superuser's address of the database it writes to. */
  adminUrl: string;
  /**
   * Creates for a time (pgbench: rounded to seconds), or a number. The rate is that of the answers; CPU time and log go on until
   * every message of these creations has taken effect.
   */
  create(how: { clients: number } & ({ durationMs: number } | { creations: number })): Promise<Measurement>;
};

export type Creators = { gateway: Creator; payments: Creator; pgbench: Creator; all: Creator[] };

/** A stack that is idle but for what these do, and on its PostgreSQL a database for each of those outside it. */
export async function startCreators(context: BenchmarkContext, pgbench: string): Promise<Creators> {
  const { load, say, onEnd } = context;
  say('  starting a stack …');
  const stack = await benchmarkStack(context);
  const { file } = stack;
  await requireDurable(file.postgres_url);
  const merchants = await seedMerchants(file.postgres_url);
  const counters = await countersOf(stack);
  const atGateway = { name: 'gateway', origin: file.gateway_url, requests: () => requestsAtGateway(merchants) };
  const atPayments = {
    name: 'payments',
    origin: file.services.payments.url,
    requests: () => requestsAtPayments(merchants, callAs(file, 'payments', 'api-gateway')),
  };
  const gateway = creatorInStack(load, atGateway, file.postgres_url, counters);
  const payments = creatorInStack(load, atPayments, file.postgres_url, counters);
  const outside = { stack, counters, onEnd };
  const kept = await creatorWithoutBroker(load, merchants, outside);
  const [oneAfterAnother, together] = await pgbenchCreators(pgbench, outside);
  return { gateway, payments, pgbench: oneAfterAnother, all: [gateway, payments, kept, oneAfterAnother, together] };
}

type Outside = { stack: JourneyStack; counters: CpuCounters; onEnd: BenchmarkContext['onEnd'] };

const databaseBeside = ({ stack }: Outside, database: string): Promise<ServiceDatabase> =>
  serviceDatabase({
    service: 'payments',
    adminUrl: stack.file.postgres_url,
    database,
    password: decodeURIComponent(new URL(stack.backends.databaseUrls.payments).password),
  });

/** What autovacuum would have done by now in a database that has been in use: sessions then plan by how large the tables are. */
export async function analyzeAll({ all }: Creators): Promise<void> {
  for (const url of new Set(all.map(({ adminUrl }) => adminUrl))) {
    await withDatabase(url, (db) => db.query('vacuum analyze'));
  }
}

async function countersOf(stack: JourneyStack): Promise<CpuCounters> {
  const postmaster = await postmasterOf(stack.file.postgres_url);
  const services = ['api-gateway', 'payments', 'chain-watcher', 'quota', 'webhook-dispatcher'] as const;
  return {
    ...Object.fromEntries(
      services.map((name) => [name, () => cpuUsOf(stack.file.services[name].replicas[0]?.pid ?? 0)] as const),
    ),
    postgres: () => cpuUsOfFamily(postmaster),
    broker: () => cpuUsOf(stack.backends.broker?.pid ?? 0),
  };
}

type Limit = Parameters<Creator['create']>[0];
/** `requests` are made for each run, because a call token is good for two minutes. */
type ServiceTarget = { name: string; origin: string; requests: () => LoadRequest[] };

function creatorInStack(load: LoadGenerator, target: ServiceTarget, adminUrl: string, counters: CpuCounters): Creator {
  return {
    name: target.name,
    adminUrl,
    create: (how) =>
      withWal(adminUrl, async () => {
        await load.prepare({ ...target, requests: target.requests(), status: 201 });
        const since = await databaseClock(adminUrl);
        const { result, cpuUs } = await withCpuOfSessions(adminUrl, () =>
          measureLoad(load, target.name, loadOf(how), counters, (created) =>
            waitUntilHandled(adminUrl, since, created),
          ),
        );
        const ofSessions = Object.entries(cpuUs).map(([service, us]) => [`postgres: ${service}`, us]);
        return { ...result, cpuUs: { ...result.cpuUs, ...Object.fromEntries(ofSessions) } };
      }),
  };
}

/**
 * A payments process that cannot reach RabbitMQ: creations go on, their messages stay in the outbox. It shows what a creation takes
 * by itself, without the work that its message makes on the same machine.
 */
async function creatorWithoutBroker(
  load: LoadGenerator,
  merchants: readonly CreatingMerchant[],
  outside: Outside,
): Promise<Creator> {
  const { counters, onEnd } = outside;
  const { adminUrl, url: databaseUrl } = await databaseBeside(outside, 'without_broker');
  await seedGates(adminUrl, merchants);
  const directory = await mkdtemp(join(tmpdir(), 'quittance-creation-'));
  onEnd(() => rm(directory, { recursive: true, force: true }));
  const amqpUrl = 'amqp://127.0.0.1:1';
  const payments = await startPaymentsProcess({ name: 'without-broker', directory, databaseUrl, amqpUrl });
  onEnd(() => payments.stop());
  const name = 'payments, messages kept';
  await load.prepare({
    ...{ name, origin: payments.origin, status: 201 },
    requests: requestsAtPayments(merchants, { 'x-internal-token': INTERNAL_TOKEN }),
  });
  const own = { ...counters, payments: () => cpuUsOf(payments.pid) };
  const create = (how: Limit) => withWal(adminUrl, () => measureLoad(load, name, loadOf(how), own));
  return { name, adminUrl, create: (how) => thenEmptyOutbox(adminUrl, create(how)) };
}

async function thenEmptyOutbox<T>(adminUrl: string, created: Promise<T>): Promise<T> {
  try {
    return await created;
  } finally {
    await emptyOutbox(adminUrl);
  }
}

const loadOf = ({ clients: connections, ...limit }: Limit) =>
  'durationMs' in limit ? { connections, ...limit } : { connections, durationMs: 60_000, requests: limit.creations };

/** Further apart than the creations of one run. */
const BASE_STEP = 10_000_000;

async function pgbenchCreators(program: string, outside: Outside): Promise<[Creator, Creator]> {
  const { url, adminUrl } = await databaseBeside(outside, 'pgbench');
  const merchants = await seedMerchantsOfPgbench(adminUrl);
  let runs = 0;
  const creator = (name: string, script: string): Creator => {
    const create = ({ clients, ...how }: Limit): Promise<Measurement> => {
      runs += 1;
      const variables = { i: 0, clients, merchants, base: BASE_STEP * runs };
      const limit =
        'durationMs' in how ? timeOfPgbench(how.durationMs) : { transactions: Math.ceil(how.creations / clients) };
      return withWal(adminUrl, () =>
        measurePgbench({ program, url, script, clients, variables, limit }, outside.counters),
      );
    };
    return { name, adminUrl, create: (how) => thenEmptyOutbox(adminUrl, create(how)) };
  };
  return [creator('pgbench', oneByOne), creator('pgbench, pipelined', pipelined)];
}

/** It takes whole seconds. In one alone a busy machine may end no transaction, so where less is wanted it makes a few. */
function timeOfPgbench(durationMs: number) {
  const seconds = Math.round(durationMs / 1000);
  return seconds === 0 ? { transactions: 4 } : { seconds };
}

/** No relay takes the messages from here, and the real table is nearly empty. */
async function emptyOutbox(adminUrl: string): Promise<void> {
  await withDatabase(adminUrl, (db) => db.query('truncate payments.outbox'));
}

async function withWal(adminUrl: string, run: () => Promise<Measurement>): Promise<Measurement> {
  const before = await walPosition(adminUrl);
  const measurement = await run();
  return { ...measurement, walBytes: (await walPosition(adminUrl)) - before };
}

const description = 'Order 12345, two teas';

export function requestsAtGateway(merchants: readonly CreatingMerchant[]): LoadRequest[] {
  return merchants.map(({ apiKey, wallet }, position) => ({
    path: '/api/v1/payments',
    headers: { 'x-api-key': apiKey, 'idempotency-key': '{key}', 'content-type': 'application/json' },
    body: JSON.stringify({ amount: '{number}.5', merchant_wallet: walletOf(position, wallet), description }),
    fresh: true,
  }));
}

function requestsAtPayments(merchants: readonly CreatingMerchant[], caller: Record<string, string>): LoadRequest[] {
  return merchants.map(({ merchantId, wallet }, position) => ({
    path: `/internal/v1/merchants/${merchantId}/payments`,
    headers: { ...caller, 'content-type': 'application/json' },
    body: JSON.stringify({
      idempotency_key: '{key}',
      amount: '{number}.5',
      merchant_wallet: walletOf(position, wallet),
      network: NETWORK,
      description,
    }),
    fresh: true,
  }));
}

/** An amount that was never asked for keeps every slot free, so the merchants' own wallets do for most. */
const walletOf = (position: number, own: string): string => (position % NEW_WALLET_EVERY === 0 ? '0x{wallet}' : own);
