import type { Benchmark, BenchmarkContext } from './benchmark.ts';
import { relayAims, relayNotes, relayTables } from './relay-tables.ts';
import { startBackends, type Backends } from './support/backends.ts';
import { cpuUsOfFamily } from './support/cpu.ts';
import { withCpu, type CpuCounters } from './support/measure.ts';
import { postmasterOf } from './support/postgres.ts';
import { startRelaying, type Relaying } from './support/relaying.ts';
import { interleave, type Contender, type Round } from './support/rounds.ts';
import { countStatements, type StatementCost } from './support/statements.ts';
import { serviceDatabase } from '../support/service-database.ts';

const amounts = { full: { messages: 20_000, warmUp: 2 }, smoke: { messages: 400, warmUp: 1 } };

const settings = { shared_preload_libraries: 'pg_stat_statements', 'pg_stat_statements.track': 'none' };

export type RelayStatements = { title: string; messages: number; costs: StatementCost[] };
export type RelayMeasurements = { rounds: Round[]; statements: RelayStatements[] };

export const benchmark: Benchmark = {
  name: 'relay',
  on: 'backends',
  about: 'messages a second that leave the outbox for RabbitMQ, beside a plain loop that publishes the same messages',
  async run(context) {
    const { scale, rounds, say, onEnd } = context;
    const { messages, warmUp } = amounts[scale];
    say('  starting PostgreSQL and RabbitMQ …');
    const backends = await startBackends('relay', settings, context);
    const relaying = await open(backends, context);
    onEnd(() => relaying.close());
    const contenders = await contendersOf(backends, relaying, messages);
    say(`  warming up, then ${rounds} rounds of ${messages} messages …`);
    await interleave(contenders, warmUp);
    const measured: RelayMeasurements = { rounds: await interleave(contenders, rounds), statements: [] };
    for (const [title, run] of Object.entries({ 'as written': relaying.asWritten, backlog: relaying.backlog })) {
      const costs = await countStatements(backends.adminUrl, () => run(messages));
      measured.statements.push({ title, messages, costs });
    }
    return {
      tables: relayTables(measured),
      notes: relayNotes,
      aims: relayAims(measured),
      measurements: measured,
    };
  },
};

async function open({ adminUrl, broker }: Backends, { onEnd }: BenchmarkContext): Promise<Relaying> {
  const database = await serviceDatabase({
    ...{ service: 'chain-watcher', adminUrl, database: 'relay', password: 'only for a benchmark' },
  });
  return startRelaying({ databaseUrl: database.url, amqpUrl: await broker.addVirtualHost('relay'), onEnd });
}

async function contendersOf({ adminUrl }: Backends, relaying: Relaying, messages: number): Promise<Contender[]> {
  const postmaster = await postmasterOf(adminUrl);
  const counters: CpuCounters = {
    sender: () => {
      const { user, system } = process.cpuUsage();
      return user + system;
    },
    postgres: () => cpuUsOfFamily(postmaster),
  };
  const contender = (name: string, run: (messages: number) => Promise<number>): Contender => ({
    name,
    measure: async () => {
      const { result: seconds, cpuUs } = await withCpu(counters, () => run(messages));
      return { units: messages, rate: messages / seconds, p50Ms: Number.NaN, p99Ms: Number.NaN, cpuUs };
    },
  });
  return [
    contender('raw', relaying.raw),
    contender('as written', relaying.asWritten),
    contender('backlog', relaying.backlog),
  ];
}
