import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import type { Benchmark, BenchmarkContext } from './benchmark.ts';
import { comparisonTable, notes, statementTable, throughputAim } from './gateway-tables.ts';
import { baselineKinds, startBaseline } from './support/baselines.ts';
import { cpuUsOf, cpuUsOfFamily } from './support/cpu.ts';
import type { LoadGenerator } from './support/load.ts';
import { measureLoad, type CpuCounters } from './support/measure.ts';
import { interleave, type Contender, type Round } from './support/rounds.ts';
import { postmasterOf } from './support/postgres.ts';
import { seedPayments, type SeededPayment } from './support/seed-payments.ts';
import { benchmarkStack } from './support/stack.ts';
import { countStatements, type StatementCost } from './support/statements.ts';

/**
 * One of the `connections` shows what a lone request takes; requests that wait together share work, so the others show two sizes of
 * a crowd. The warm-up lasts until the just-in-time compilers have seen every path often enough to make their last change to it.
 */
const amounts = {
  full: { connections: [1, 32, 128], warmUpMs: 5_000, counted: 2_000, merchants: 4_000 },
  smoke: { connections: [1, 4], warmUpMs: 50, counted: 20, merchants: 200 },
};
type Amounts = (typeof amounts)['full'];

/** A keyed read, at every server under the same path. */
type Endpoint = {
  name: string;
  route: string;
  request: (payment: SeededPayment) => { path: string; headers: Record<string, string> };
};

const endpoints: readonly Endpoint[] = [
  {
    name: 'GET /payments/{public_token}',
    route: '/api/v1/payments/:public_token',
    request: ({ publicToken }) => ({ path: `/api/v1/payments/${publicToken}`, headers: {} }),
  },
  {
    name: 'GET /payments/{payment_id}/details',
    route: '/api/v1/payments/:payment_id/details',
    request: ({ paymentId, apiKey }) => ({
      path: `/api/v1/payments/${paymentId}/details`,
      headers: { 'x-api-key': apiKey },
    }),
  },
];

/** Where requests go, and whose CPU time they cost. */
type Server = { name: string; origin: string; cpu: CpuCounters };

export type GatewayComparison = { endpoint: string; connections: number; rounds: Round[] };

export type StatementCount = { endpoint: string; connections: number; requests: number; costs: StatementCost[] };

/**
 * Straight to the gateway's process: the edge in front of it limits what one address may ask. The baselines give answers of the same size.
 */
export const benchmark: Benchmark = {
  name: 'gateway',
  on: 'stack',
  about: 'keyed reads through api-gateway, payments and PostgreSQL, beside servers that only answer',
  async run(context) {
    const { load, rounds, runMs, say, scale, attempt } = context;
    const { connections: connectionCounts, warmUpMs } = amounts[scale];
    const { stack, payments, servers } = await start(context);
    for (const endpoint of endpoints) {
      const requests = payments.map(endpoint.request);
      for (const server of servers) {
        await load.prepare({ name: targetOf(server.name, endpoint), origin: server.origin, requests });
      }
    }
    const measure = (endpoint: Endpoint, connections: number, durationMs: number, times: number): Promise<Round[]> => {
      const contenders = servers.map((server): Contender => {
        const run = () => measureLoad(load, targetOf(server.name, endpoint), { connections, durationMs }, server.cpu);
        return { name: server.name, measure: run };
      });
      return interleave(contenders, times);
    };

    const comparisons: GatewayComparison[] = [];
    for (const endpoint of endpoints) {
      say(`  ${endpoint.name}: warming up, then ${rounds} rounds for each number of connections …`);
      await measure(endpoint, Math.max(...connectionCounts), warmUpMs, 1);
      for (const connections of connectionCounts) {
        const what = `${endpoint.name}, ${connections} connections`;
        const measured = await attempt(what, () => measure(endpoint, connections, runMs, rounds));
        if (measured !== undefined) comparisons.push({ endpoint: endpoint.name, connections, rounds: measured });
      }
    }
    const counted = (await attempt('counting statements', () => countAll(load, stack, amounts[scale]))) ?? [];

    return {
      tables: [...comparisons.map(comparisonTable), ...counted.map(statementTable)],
      notes,
      aims: comparisons.filter(({ connections }) => connections > 1).map(throughputAim),
      measurements: { comparisons, counted },
    };
  },
};

const targetOf = (server: string, endpoint: Endpoint): string => `${endpoint.name} at ${server}`;

async function start(context: BenchmarkContext) {
  const { say, scale, onEnd } = context;
  say('  starting a stack …');
  const { file: stack } = await benchmarkStack(context);
  const payments = await seedPayments(stack, amounts[scale].merchants);
  const [sample] = payments;
  if (sample === undefined) throw new Error('no payment was seeded');
  const answers = await Promise.all(
    endpoints.map(async ({ route, request }) => ({ route, body: await answerOf(stack, request(sample)) })),
  );
  const servers: Server[] = [await gateway(stack)];
  for (const kind of baselineKinds) {
    const baseline = await startBaseline({ kind, answers, postgresUrl: stack.postgres_url });
    onEnd(() => baseline.close());
    servers.push({ name: kind, origin: baseline.origin, cpu: { server: () => cpuUsOf(baseline.pid) } });
  }
  return { stack, payments, servers };
}

async function answerOf(stack: StackFile, { path, headers }: ReturnType<Endpoint['request']>): Promise<unknown> {
  const answer = await fetch(stack.gateway_url + path, { headers });
  if (!answer.ok) throw new Error(`a seeded payment was answered with ${answer.status}`);
  return answer.json();
}

/** The gateway, and the processes that work for it. */
async function gateway(stack: StackFile): Promise<Server> {
  const pidOf = (service: 'api-gateway' | 'payments'): number => stack.services[service].replicas[0]?.pid ?? 0;
  const postmaster = await postmasterOf(stack.postgres_url);
  return {
    name: 'gateway',
    origin: stack.gateway_url,
    cpu: {
      server: () => cpuUsOf(pidOf('api-gateway')),
      payments: () => cpuUsOf(pidOf('payments')),
      postgres: () => cpuUsOfFamily(postmaster),
    },
  };
}

/** One after another, and many at once: a service may answer several requests with one statement. */
async function countAll(
  load: LoadGenerator,
  stack: StackFile,
  { connections: connectionCounts, counted }: Amounts,
): Promise<StatementCount[]> {
  const counts: StatementCount[] = [];
  for (const endpoint of endpoints) {
    for (const connections of connectionCounts) {
      let requests = 0;
      const costs = await countStatements(stack.postgres_url, async () => {
        const result = await load.run(targetOf('gateway', endpoint), {
          connections,
          durationMs: 60_000,
          requests: counted,
        });
        requests = result.answered;
      });
      counts.push({ endpoint: endpoint.name, connections, requests, costs });
    }
  }
  return counts;
}
