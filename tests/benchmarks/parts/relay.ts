import type { BenchmarkContext, Part } from '../benchmark.ts';
import { serviceDatabase } from '../../support/service-database.ts';
import { startBackends, type Backends } from '../support/backends.ts';
import { cpuUsOfFamily } from '../support/cpu.ts';
import { withCpu, type CpuCounters } from '../support/measure.ts';
import { postmasterOf } from '../support/postgres.ts';
import { startRelaying, type Relaying } from '../support/relaying.ts';
import { interleave, type Contender } from '../support/rounds.ts';
import { compare, comparedTo } from '../support/sound-baselines.ts';
import { countStatements } from '../support/statements.ts';
import { rateOf, rateTable, statementTable, type CountedStatements } from '../support/tables.ts';

const amounts = { full: { messages: 20_000, warmUp: 2 }, smoke: { messages: 400, warmUp: 1 } };
const TO_RAW = 0.9;

export const relay: Part = {
  name: 'relay',
  on: 'backends',
  short: {},
  about: 'messages a second from the outbox to RabbitMQ, compared with a plain loop that publishes the same messages',
  async run(context) {
    const { scale, rounds, say, onEnd } = context;
    const { messages, warmUp } = amounts[scale];
    say('  starting PostgreSQL and RabbitMQ …');
    const backends = await startBackends('relay', context);
    const relaying = await open(backends, context);
    onEnd(() => relaying.close());
    const contenders = await contendersOf(backends, relaying, messages);
    say(`  warming up, then ${rounds} rounds of ${messages} messages …`);
    await interleave(contenders, warmUp);
    const measured = await compare(context, contenders, ['raw']);
    const statements: CountedStatements[] = [];
    for (const [name, run] of Object.entries({ 'as written': relaying.asWritten, backlog: relaying.backlog })) {
      const costs = await countStatements(backends.adminUrl, () => run(messages));
      statements.push({ title: `SQL for one message, ${name}`, units: messages, costs });
    }
    return {
      tables: [
        rateTable({
          ...{ title: 'Messages that reach RabbitMQ and are confirmed', rounds: measured, units: 'messages' },
          ...{ baselines: ['raw'], processes: ['sender', 'postgres'] },
        }),
        ...statements.map(statementTable),
      ],
      notes: [
        'raw: amqplib with at most 2,000 unconfirmed messages, the same bytes, properties and queue; no database, nothing is remembered.',
        'as written: eight transactions at a time, each of 100 messages, timed until every message is confirmed and kept as sent.',
        'backlog: the messages are in the outbox when a relay starts. All contenders run in one process, the sender.',
      ],
      aims: ['as written', 'backlog'].map((name) => ({
        what: `messages/s relayed, ${name}, to raw`,
        atLeast: TO_RAW,
        ...comparedTo(measured, rateOf, name, 'raw'),
      })),
      measurements: { rounds: measured, statements },
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
