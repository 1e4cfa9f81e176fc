import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import type { Aim, BenchmarkContext, Part, Table } from '../benchmark.ts';
import type { Baseline } from '../support/baseline-process.ts';
import { cpuUsOf, cpuUsOfFamily } from '../support/cpu.ts';
import { startForked } from '../support/forked.ts';
import type { LoadGenerator } from '../support/load.ts';
import { measureLoad, type CpuCounters } from '../support/measure.ts';
import { postmasterOf } from '../support/postgres.ts';
import { interleave, type Contender, type Round } from '../support/rounds.ts';
import { compare, comparedTo } from '../support/sound-baselines.ts';
import { seedPayments, type SeededPayment } from '../support/seed-payments.ts';
import { benchmarkStack } from '../support/stack.ts';
import { countStatements } from '../support/statements.ts';
import { latencyFigures, rateOf, rateTable, statementTable, type CountedStatements } from '../support/tables.ts';

/**
 * One connection shows what a single request takes. Requests that wait at the same time share work, so the others show two sizes of
 * a crowd. The warm-up lasts until the just-in-time compilers have optimized every path.
 */
const amounts = {
  full: { connections: [1, 32, 128], warmUpMs: 5_000, counted: 2_000, merchants: 4_000 },
  smoke: { connections: [1, 4], warmUpMs: 50, counted: 20, merchants: 200 },
};
type Amounts = (typeof amounts)['full'];

/** Of the throughput of many connections, and of the latency of one, of a server that asks PostgreSQL once for each request. */
const AIMS = { throughput: 0.6, latency: 2.5 };
const BASELINE = 'express + select 1';
const baselines = ['express', BASELINE];

/** A read, under the same path at every server. */
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

/** Where requests go, and which processes' CPU time they cost. */
type Server = { name: string; origin: string; cpu: CpuCounters };

type Comparison = { endpoint: string; connections: number; rounds: Round[] };

/** Straight to the gateway's process, because the edge limits requests of one address. The baselines give answers of the same size. */
export const gateway: Part = {
  name: 'gateway',
  on: 'stack',
  short: {},
  about:
    'reads through api-gateway, payments and PostgreSQL, compared with a server that asks PostgreSQL once, and one that only answers',
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
    const contenders = (endpoint: Endpoint, connections: number, durationMs: number) =>
      servers.map((server): Contender => {
        const run = () => measureLoad(load, targetOf(server.name, endpoint), { connections, durationMs }, server.cpu);
        return { name: server.name, measure: run };
      });

    const comparisons: Comparison[] = [];
    for (const endpoint of endpoints) {
      say(`  ${endpoint.name}: warming up, then ${rounds} rounds for each number of connections …`);
      await interleave(contenders(endpoint, Math.max(...connectionCounts), warmUpMs), 1);
      for (const connections of connectionCounts) {
        const what = `${endpoint.name}, ${connections} connections`;
        const measured = await attempt(what, () =>
          compare(context, contenders(endpoint, connections, runMs), [BASELINE]),
        );
        if (measured !== undefined) comparisons.push({ endpoint: endpoint.name, connections, rounds: measured });
      }
    }
    const counted = (await attempt('counting statements', () => countAll(load, stack, amounts[scale]))) ?? [];

    return {
      tables: [...comparisons.map(comparisonTable), ...counted.map(statementTable)],
      notes: [
        'Ratios of requests/s are medians of the rounds (least–greatest). µs is CPU time for one request: of the process that answers,',
        'of the two behind it, and of the load generator. Where they share few cores, the CPU time of a request decides; with a core for',
        'each, that of the process that answers.',
      ],
      aims: comparisons.map((comparison) => (comparison.connections > 1 ? throughputAim : latencyAim)(comparison)),
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
  const servers: Server[] = [await gatewayOf(stack)];
  for (const name of baselines) {
    const baseline = startForked<Baseline>('baseline-process.ts', name);
    onEnd(() => baseline.close());
    const port = await baseline.ask('open', answers, name === 'express' ? null : stack.postgres_url);
    servers.push({ name, origin: `http://127.0.0.1:${port}`, cpu: { server: () => cpuUsOf(baseline.pid) } });
  }
  return { stack, payments, servers };
}

async function answerOf(stack: StackFile, { path, headers }: ReturnType<Endpoint['request']>): Promise<unknown> {
  const answer = await fetch(stack.gateway_url + path, { headers });
  if (!answer.ok) throw new Error(`a seeded payment was answered with ${answer.status}`);
  return answer.json();
}

/** The gateway, and the processes that work for it. */
async function gatewayOf(stack: StackFile): Promise<Server> {
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

/** The services whose statements serve these requests; the loops of the others continue meanwhile. */
const serving = ['gateway', 'payments'];

/** One after another, and many at once: a service may answer several requests with one statement. */
async function countAll(
  load: LoadGenerator,
  stack: StackFile,
  { connections: connectionCounts, counted: requests }: Amounts,
): Promise<CountedStatements[]> {
  const counts: CountedStatements[] = [];
  for (const endpoint of endpoints) {
    for (const connections of connectionCounts) {
      const how = { connections, durationMs: 60_000, requests };
      const costs = await countStatements(stack.postgres_url, () => load.run(targetOf('gateway', endpoint), how));
      counts.push({
        title: `${endpoint.name}: SQL for one request, ${plural(connections)}`,
        units: requests,
        costs: costs.filter(({ service }) => serving.includes(service)),
      });
    }
  }
  return counts;
}

const throughputAim = ({ endpoint, connections, rounds }: Comparison): Aim => ({
  what: `${endpoint}, ${connections} connections: requests/s to ${BASELINE}`,
  atLeast: AIMS.throughput,
  ...comparedTo(rounds, rateOf, 'gateway', BASELINE),
});

const latencyAim = ({ endpoint, rounds }: Comparison): Aim => ({
  what: `${endpoint}, 1 connection: median latency to ${BASELINE}`,
  atMost: AIMS.latency,
  ...comparedTo(rounds, ({ p50Ms }) => p50Ms, 'gateway', BASELINE),
});

const comparisonTable = ({ endpoint, connections, rounds }: Comparison): Table =>
  rateTable({
    ...{ title: `${endpoint}, ${plural(connections)}`, rounds, units: 'requests', baselines },
    ...{ figures: latencyFigures, processes: ['server', 'payments', 'postgres', 'load'] },
  });

const plural = (connections: number): string => (connections === 1 ? '1 connection' : `${connections} connections`);
