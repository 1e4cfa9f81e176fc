import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { serviceNames, type ServiceName } from '@quittance/contracts/service-name.ts';
import { placesOnPath } from '@quittance/local-backends/on-path.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { addressOf, serviceSchemas } from '@quittance/postgres/roles/service-databases.ts';
import { testBroker, type TestBroker } from '@quittance/testkit/broker.ts';
import { installedPgbouncer, startPgbouncer } from '@quittance/testkit/pgbouncer.ts';
import { verdictOf } from '../support/go-live.ts';
import { withDatabase } from '../support/database.ts';
import { startLoneService } from '../support/lone-service.ts';
import { runAsReader, runsRabbitmq, startManagedServer, type ManagedServer } from '../support/managed-server.ts';
import { blocksIn } from '../support/markdown-blocks.ts';
import { readSettings, samples } from '../support/service-settings.ts';

const page = readFileSync(join(repositoryRoot, 'docs', 'managed.md'), 'utf8');
// Steps of a list have their blocks indented.
const blocks = blocksIn(page.replaceAll(/^ {3}/gm, ''));
const [create, setPassword, severalNodes] = blocks.map(({ code }) => code);
const passwordOf = (role: string): string => `a password of ${role}`;

const pgbouncer = installedPgbouncer() ?? '';
const testPooled = pgbouncer === '' ? test.skip : test;
if (pgbouncer === '') process.stderr.write('Skipped: there is no PgBouncer here. Debian has it as pgbouncer.\n');
const describeWithPsql = [...placesOnPath('psql')].length === 0 ? describe.skip : describe;
if (describeWithPsql === describe.skip)
  process.stderr.write('Skipped: there is no psql here. Debian has it as postgresql-client.\n');

test('each block of commands in docs/managed.md is run here, or read as a service reads it', () => {
  expect(blocks.map((block) => [block.language, verdictOf(block)])).toEqual([
    ['sh', 'run'],
    ['sh', 'run'],
    ['sh', 'checked'],
  ]);
  const urls = severalNodes!
    .trim()
    .split('\n')
    .map((line) => line.replace(/^AMQP_URL=/, ''));
  expect(urls).toHaveLength(2);
  for (const AMQP_URL of urls) expect(() => readSettings('quota', { ...samples, AMQP_URL })).not.toThrow();
  expect(() => readSettings('quota', { ...samples, AMQP_URL: urls[0]!.replace('b.example', '') })).toThrow('AMQP_URL');
});

describeWithPsql('docs/managed.md, followed on a server without a superuser', () => {
  let server: ManagedServer;
  let broker: TestBroker;
  const closing: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    server = await startManagedServer();
    closing.push(server.stop);
    closing.push(await runsRabbitmq(server.directory));
    broker = await testBroker();
    closing.push(broker.close);
    await runAsReader(create!, server.psql);
  });
  afterAll(async () => {
    for (const close of closing.reverse()) await close();
  });

  const urlOf = (service: ServiceName): string => {
    const { role } = serviceSchemas[service];
    return addressOf(server.adminUrl, { database: 'quittance', role, password: passwordOf(role) });
  };

  test('its commands make the roles of all services, each with the password that was typed', async () => {
    const [, first = '', others = ''] = /\\password (\w+)'.*# and (.*)$/m.exec(setPassword!) ?? [];
    const short = others.split(', ').map((name) => name.replace('quittance_', '_'));
    const roles = [first, ...short.map((name) => `quittance${name}`)];
    expect(roles.toSorted()).toEqual(
      Object.values(serviceSchemas)
        .map(({ role }) => role)
        .toSorted(),
    );
    for (const role of roles) {
      const typed = `${passwordOf(role)}\n`.repeat(2);
      await runAsReader(setPassword!.replace(first, role), server.psql, typed);
    }
    for (const service of serviceNames)
      await withDatabase(urlOf(service), async (db) => {
        const { rows } = await db.query('select current_schema() as schema');
        expect(rows).toEqual([{ schema: serviceSchemas[service].schema }]);
      });
  });

  test('every service then migrates and runs by TLS, with the one user of a provider’s RabbitMQ', async () => {
    await runEverything('direct', (url) => ({ DATABASE_URL: `${url}?${server.tls}` }));
    const queues = (await broker.manage('GET', `/api/queues/${broker.vhost}`)) as { name: string; type: string }[];
    expect(queues.length).toBeGreaterThan(serviceNames.length);
    expect(queues.filter(({ name, type }) => !/^amq\./.test(name) && type !== 'quorum')).toEqual([]);
  });

  testPooled('and through a PgBouncer in transaction mode with three connections for each', async () => {
    const [target = '', ...others] = serviceNames.map(urlOf);
    const pooler = await startPgbouncer({ program: pgbouncer, target, others, mode: 'transaction', poolSize: 3 });
    try {
      await runEverything('pooled', (url) => {
        const pooled = new URL(url);
        pooled.host = new URL(pooler.url).host;
        return { DATABASE_URL: `${pooled.href}?pgbouncer=true`, DATABASE_DIRECT_URL: `${url}?${server.tls}` };
      });
    } finally {
      await pooler.close();
    }
  });

  /** Migrates, prepares RabbitMQ, and starts the services, which throws unless each becomes ready. */
  async function runEverything(name: string, settingsOf: (url: string) => Record<string, string>): Promise<void> {
    const broker_ = { AMQP_URL: broker.url };
    await Promise.all(
      serviceNames.map((service) =>
        program('packages/messaging/src/schema/migrate.ts', service, settingsOf(urlOf(service))),
      ),
    );
    await program('packages/messaging/src/broker/prepare.ts', '', broker_);
    const { PORT, DATABASE_URL, AMQP_URL, INTERNAL_TOKEN, FAULT_POINT, ...env } = samples;
    const started = await Promise.allSettled(
      serviceNames.map((service) => {
        const settings = settingsOf(urlOf(service));
        return startLoneService({
          name: service,
          directory: join(server.directory, name, service),
          databaseUrl: settings['DATABASE_URL']!,
          amqpUrl: broker.url,
          env: { ...env, ...settings },
        });
      }),
    );
    await Promise.all(started.flatMap((one) => (one.status === 'fulfilled' ? [one.value.stop()] : [])));
    expect(started.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))).toEqual([]);
  }
});

/** Runs one of the project's programs to its end. @throws Error with its log. */
async function program(file: string, argument: string, env: Record<string, string>): Promise<void> {
  const args = [join(repositoryRoot, file), ...(argument === '' ? [] : [argument])];
  await promisify(execFile)(process.execPath, args, {
    cwd: repositoryRoot,
    env: { PATH: process.env['PATH'], ...env },
  });
}
