import { withDatabase } from '../../support/database.ts';
import type { JourneyStack } from '../../support/journey-stack.ts';
import type { BenchmarkContext } from '../benchmark.ts';
import { cpuUsOf, cpuUsOfFamily } from './cpu.ts';
import { NEW_WALLET_EVERY, script } from './creation-script.ts';
import { POOL, seedMerchants, seedMerchantsOfPgbench, seedPools, type CreatingMerchant } from './creating-merchants.ts';
import { databaseClock, waitUntilHandled } from './drained.ts';
import type { LoadGenerator, LoadRequest } from './load.ts';
import { measureLoad, type CpuCounters } from './measure.ts';
import { NETWORK } from './payments-process.ts';
import { measurePgbench } from './pgbench.ts';
import { postmasterOf, requireDurable, walPosition, withCpuOfSessions } from './postgres.ts';
import type { Measurement } from './rounds.ts';
import { serviceDatabase } from '../../support/service-database.ts';
import { benchmarkStack } from './stack.ts';
import { callAs } from '@quittance/local-stack/stack/call-as.ts';

/** Something that creates payments. */
export type Creator = {
  name: string;
  /** The superuser's address of its database. */
  adminUrl: string;
  /**
   * Creates for a time (pgbench: rounded to seconds), or a number of payments. The rate is that of the answers. CPU time and log are
   * counted until every message has taken effect.
   */
  create(how: { clients: number } & ({ durationMs: number } | { creations: number })): Promise<Measurement>;
};

export type Creators = { gateway: Creator; payments: Creator; pgbench: Creator; all: Creator[] };

/** A stack that does nothing else, and on its PostgreSQL a database for pgbench. */
export async function startCreators(context: BenchmarkContext, pgbench: string): Promise<Creators> {
  const { load, say } = context;
  say('  starting a stack …');
  const stack = await benchmarkStack(context);
  const { file } = stack;
  await requireDurable(file.postgres_url);
  const merchants = await seedMerchants(file.postgres_url);
  const withPools = await seedMerchants(file.postgres_url, true);
  await seedPools(file.postgres_url, withPools);
  const counters = await countersOf(stack);
  const atGateway = { name: 'gateway', origin: file.gateway_url, requests: () => requestsAtGateway(merchants) };
  const fromPools = { name: 'from a pool', origin: file.gateway_url, requests: () => requestsWithPools(withPools) };
  const atPayments = {
    name: 'payments',
    origin: file.services.payments.url,
    requests: () => requestsAtPayments(merchants, callAs(file, 'payments', 'api-gateway')),
  };
  const gateway = creatorInStack(load, atGateway, file.postgres_url, counters);
  const pool = creatorInStack(load, fromPools, file.postgres_url, counters);
  const payments = creatorInStack(load, atPayments, file.postgres_url, counters);
  const pgbenchCreator = await creatorWithPgbench(pgbench, stack, counters);
  return { gateway, payments, pgbench: pgbenchCreator, all: [gateway, pool, payments, pgbenchCreator] };
}

/** Autovacuum has done this in a database in use. Sessions then plan by the size of the tables. */
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
/** `requests` are made for each run, because a call token is valid for two minutes. */
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
        return { ...result, cpuUs: { ...result.cpuUs, ...cpuUs } };
      }),
  };
}

const loadOf = ({ clients: connections, ...limit }: Limit) =>
  'durationMs' in limit ? { connections, ...limit } : { connections, durationMs: 60_000, requests: limit.creations };

/** More than the creations of one run. */
const BASE_STEP = 10_000_000;

async function creatorWithPgbench(program: string, stack: JourneyStack, counters: CpuCounters): Promise<Creator> {
  const { url, adminUrl } = await serviceDatabase({
    ...{ service: 'payments', adminUrl: stack.file.postgres_url, database: 'pgbench' },
    password: decodeURIComponent(new URL(stack.backends.databaseUrls.payments).password),
  });
  const merchants = await seedMerchantsOfPgbench(adminUrl);
  let runs = 0;
  /** Of the last run. The next one takes about as long, and on a busy machine several times as long as the measurement. */
  let warmUpMs = 0;
  return {
    name: 'pgbench',
    adminUrl,
    async create({ clients, ...how }) {
      runs += 1;
      const variables = { i: 0, clients, merchants, base: BASE_STEP * runs };
      const limit =
        'durationMs' in how
          ? timeOfPgbench(how.durationMs, warmUpMs)
          : { transactions: Math.ceil(how.creations / clients) };
      try {
        return await withWal(adminUrl, async () => {
          const measured = await measurePgbench(
            { program, url, adminUrl, script, clients, variables, limit },
            counters,
          );
          warmUpMs = measured.warmUpMs;
          return measured;
        });
      } finally {
        // No relay takes the messages from here, and the real table is nearly empty.
        await withDatabase(adminUrl, (db) => db.query('truncate payments.outbox'));
      }
    },
  };
}

/** pgbench takes whole seconds. On a busy machine one second may end no transaction, so a shorter run makes a few transactions. */
function timeOfPgbench(durationMs: number, warmUpMs: number) {
  if (durationMs < 500) return { transactions: 4 };
  return { seconds: Math.ceil((durationMs + warmUpMs) / 1000) };
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

/** The same, from a pool of each merchant. */
const requestsWithPools = (merchants: readonly CreatingMerchant[]): LoadRequest[] =>
  merchants.map(({ apiKey }) => ({
    path: '/api/v1/payments',
    headers: { 'x-api-key': apiKey, 'idempotency-key': '{key}', 'content-type': 'application/json' },
    body: JSON.stringify({ amount: '{number}.5', wallet_pool: POOL, description }),
    fresh: true,
  }));

export function requestsAtPayments(
  merchants: readonly Omit<CreatingMerchant, 'apiKey'>[],
  caller: Record<string, string>,
): LoadRequest[] {
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

/** Each amount is new, so every slot is free and most creations can use the merchant's own wallet. */
const walletOf = (position: number, own: string): string => (position % NEW_WALLET_EVERY === 0 ? '0x{wallet}' : own);
