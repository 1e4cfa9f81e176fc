import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChild } from '@quittance/local-backends/child.ts';
import { placesOnPath } from '@quittance/local-backends/on-path.ts';
import { freePort } from '@quittance/local-backends/ports.ts';
import { unprivilegedUser } from '@quittance/local-backends/unprivileged.ts';
import { runDirectoryPrefix } from './run-directory.ts';

/** The machine's PgBouncer, if it has one. */
export const installedPgbouncer = (): string | undefined =>
  [...placesOnPath('pgbouncer'), '/usr/sbin/pgbouncer'].find((file) => existsSync(file));

export type Pgbouncer = {
  /** Like the database's URL, through the pooler. */
  url: string;
  close(): Promise<void>;
};

/**
 * A PgBouncer between a service and its database.
 * @param options.target the database's URL, with the service's login.
 * @param options.others URLs with other logins of the same server, which it also knows.
 * @param options.poolSize its connections to the server.
 * @param options.ignored startup parameters that it drops; it refuses the others.
 */
export async function startPgbouncer(options: {
  program: string;
  target: string;
  others?: readonly string[];
  mode: 'session' | 'transaction';
  poolSize: number;
  ignored?: string;
}): Promise<Pgbouncer> {
  const target = new URL(options.target);
  const directory = await mkdtemp(join(tmpdir(), `${runDirectoryPrefix}${process.pid}-`));
  await chmod(directory, 0o755);
  const port = await freePort();
  const file = join(directory, 'pgbouncer.ini');
  const users = join(directory, 'users.txt');
  const logins = [options.target, ...(options.others ?? [])].map((url) => new URL(url));
  await writeFile(
    users,
    logins.map(({ username, password }) => `"${username}" "${decodeURIComponent(password)}"\n`).join(''),
  );
  await writeFile(
    file,
    [
      '[databases]',
      `* = host=${target.hostname} port=${target.port}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = scram-sha-256',
      `auth_file = ${users}`,
      `pool_mode = ${options.mode}`,
      `default_pool_size = ${options.poolSize}`,
      `ignore_startup_parameters = ${options.ignored ?? ''}`,
    ].join('\n'),
  );
  // It refuses to run as root.
  const runAs = unprivilegedUser(directory);
  const child = await startChild({
    name: 'PgBouncer',
    ...(runAs ? runAs.wrap(options.program, [file]) : { command: options.program, args: [file] }),
    logFile: join(directory, 'log'),
    temporaryDirectory: directory,
  });
  target.host = `127.0.0.1:${port}`;
  return {
    url: target.href,
    async close() {
      await child.kill();
      await rm(directory, { recursive: true });
    },
  };
}
