import { spawn } from 'node:child_process';
import { chmod, chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { ensureCertificateAuthority, openCertificateAuthority } from '@quittance/local-backends/certificates.ts';
import { freePort, freePorts } from '@quittance/local-backends/ports.ts';
import { startPostgres } from '@quittance/local-backends/postgres.ts';
import { startRabbitmq } from '@quittance/local-backends/rabbitmq.ts';
import { repositoryRoot, stackDirectory } from '@quittance/local-stack/stack/directory.ts';
import { addressOf } from '@quittance/postgres/roles/service-databases.ts';
import { runDirectoryPrefix } from '@quittance/testkit/run-directory.ts';
import { withDatabase } from './database.ts';

export type ManagedServer = {
  directory: string;
  /** URL of the only administrator that a provider gives: it may create roles and databases, and no more. */
  adminUrl: string;
  /** What a URL has to add for TLS, with the server's own authority. */
  tls: string;
  /** The environment in which `psql` is that administrator. */
  psql: Record<string, string>;
  stop(): Promise<void>;
};

/** A PostgreSQL of its own, with TLS, as a provider runs it. Its roles cannot meet those of other tests. */
export async function startManagedServer(): Promise<ManagedServer> {
  const directory = await mkdtemp(join(tmpdir(), `${runDirectoryPrefix}${process.pid}-`));
  await chmod(directory, 0o755);
  const port = await freePort();
  const server = await startPostgres({
    directory: join(directory, 'postgres'),
    port,
    logFile: join(directory, 'postgres.log'),
    durable: false,
    temporaryDirectory: directory,
  });
  const authority = await ensureCertificateAuthority(join(directory, 'ca'));
  await startTls(server.url, join(directory, 'postgres', 'data'), await openCertificateAuthority(authority));
  const administrator = { role: 'administrator', password: 'of the provider' };
  await withDatabase(server.url, (superuser) =>
    superuser.query(`create role administrator login createrole createdb password '${administrator.password}'`),
  );
  const adminUrl = addressOf(server.url, administrator);
  return {
    directory,
    adminUrl,
    tls: `sslmode=verify-full&sslrootcert=${authority.certificateFile}`,
    psql: {
      PATH: process.env['PATH'] ?? '',
      PGHOST: '127.0.0.1',
      PGPORT: String(port),
      PGUSER: administrator.role,
      PGPASSWORD: administrator.password,
      PGSSLMODE: 'verify-full',
      PGSSLROOTCERT: authority.certificateFile,
    },
    async stop() {
      await server.kill();
      await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    },
  };
}

/**
 * Starts a RabbitMQ for the test if the run has none, because no test of this run but this one needs it.
 * @returns what stops it.
 */
export async function runsRabbitmq(directory: string): Promise<() => Promise<void>> {
  const { TEST_AMQP_URL, TEST_AMQP_MANAGEMENT_URL } = process.env;
  if (TEST_AMQP_URL && TEST_AMQP_MANAGEMENT_URL) return () => Promise.resolve();
  const [amqp, management, distribution, epmd] = (await freePorts(4)) as [number, number, number, number];
  const node = await startRabbitmq({
    directory: join(directory, 'rabbitmq'),
    toolsDirectory: stackDirectory().tools,
    ports: { amqp, management, distribution, epmd },
    logFile: join(directory, 'rabbitmq.log'),
    temporaryDirectory: directory,
  });
  Object.assign(process.env, { TEST_AMQP_URL: node.url, TEST_AMQP_MANAGEMENT_URL: node.managementUrl ?? '' });
  return async () => {
    await node.kill();
  };
}

async function startTls(
  url: string,
  data: string,
  authority: Awaited<ReturnType<typeof openCertificateAuthority>>,
): Promise<void> {
  const { cert, key } = await authority.issue('127.0.0.1');
  const { uid, gid } = await stat(data);
  for (const [name, pem] of Object.entries({ 'server.crt': cert, 'server.key': key })) {
    const file = join(data, name);
    await writeFile(file, pem, { mode: 0o600 });
    await chown(file, uid, gid);
  }
  await withDatabase(url, async (superuser) => {
    await superuser.query('alter system set ssl = on');
    await superuser.query('select pg_reload_conf()');
  });
}

/**
 * Runs commands as a reader does, in the checkout.
 * @param input what is typed. Without a terminal, `psql` reads a password from it.
 * @throws Error with what the commands printed, if one of them fails.
 */
export async function runAsReader(commands: string, env: Record<string, string>, input = ''): Promise<string> {
  // In a session of its own, so that there is no terminal.
  const options = { cwd: repositoryRoot, env, detached: true };
  const child = spawn('sh', ['-e', '-c', commands], options);
  child.stdin.end(input);
  const printed = Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = (await once(child, 'close')) as [number | null];
  const [out, problems] = await printed;
  if (code !== 0) throw new Error(`${commands}\nended with ${String(code)}: ${problems}`);
  return out;
}
