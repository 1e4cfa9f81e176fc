import { execFileSync } from 'node:child_process';
import { chmod, chown, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { isAlive } from '../src/orphans.ts';
import { freePort } from '../src/ports.ts';
import { startPostgres } from '../src/postgres.ts';
import { reachablePrograms, unprivilegedUser } from '../src/unprivileged.ts';
import { prepareServiceDatabases, serviceSchemas, withClient } from '@quittance/postgres/roles/service-databases.ts';
import { temporaryDirectory } from './support.ts';
import type { ServiceName } from '@quittance/contracts/service-name.ts';

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let port: number;
beforeAll(async () => {
  directory = await temporaryDirectory();
  port = await freePort();
});
afterAll(() => directory.remove());

const options = (name: string) => ({
  directory: join(directory.path, name),
  port,
  logFile: join(directory.path, `${name}.log`),
});

test('data committed before a kill -9 is there after the next start, and a stop leaves no process', async () => {
  const first = await startPostgres(options('kept'));
  await withClient(first.url, (client) => client.query('create table note as select 42 as answer'));
  await first.kill();
  const second = await startPostgres(options('kept'));
  const { rows } = await withClient(second.url, (client) => client.query('select answer from note'));
  expect(rows).toEqual([{ answer: 42 }]);
  await second.stop();
  expect(await isAlive(second.pid)).toBe(false);
});

test("a server logs no parameters, which contain merchants' data", async () => {
  const server = await startPostgres(options('kept'));
  const { rows } = await withClient(server.url, (client) => client.query('show log_parameter_max_length'));
  expect(rows).toEqual([{ log_parameter_max_length: '0' }]);
  await server.stop();
});

test('a server that an earlier run left behind is ended by the next start on its directory', async () => {
  const left = await startPostgres(options('left'));
  const next = await startPostgres(options('left'));
  expect(await left.exited).toBe('PostgreSQL ended with exit code 0');
  await withClient(next.url, (client) => client.query('select 1'));
  await next.stop();
});

test('a damaged data directory is one error that says how to fix it', async () => {
  const server = await startPostgres(options('damaged'));
  await server.stop();
  await writeFile(join(directory.path, 'damaged', 'data', 'global', 'pg_control'), 'nonsense');
  await expect(startPostgres(options('damaged'))).rejects.toThrow(/pg_control[^]*npm run reset/);
});

test('a port in use is named', async () => {
  const server = await startPostgres(options('taken'));
  await expect(startPostgres({ ...options('other'), port: server.pid && port })).rejects.toThrow(
    `Port ${port}, meant for PostgreSQL, is already in use`,
  );
  await server.stop();
});

test('a checkout below a directory closed to others works, even for root', async () => {
  const closed = join(directory.path, 'closed');
  await mkdir(closed);
  await chmod(closed, 0o700);
  const server = await startPostgres(options('closed/postgres'));
  await withClient(server.url, (client) => client.query('select 1'));
  await server.stop();
});

const testAsRoot = process.getuid?.() === 0 ? test : test.skip;

testAsRoot(
  'programs below a directory closed to others run from a copy that only root can change, and that is made once',
  async () => {
    const programs = {
      directory: join(directory.path, 'closed-programs'),
      name: `quittance-test-${process.pid}`,
      probe: 'bin/probe',
    };
    await mkdir(join(programs.directory, 'bin'), { recursive: true, mode: 0o755 });
    // initdb checks in this way whether it may run postgres.
    await writeFile(join(programs.directory, programs.probe), '#!/bin/sh\ntest -x "$0" && echo runs\n', {
      mode: 0o755,
    });
    const user = unprivilegedUser(directory.path)!;
    expect(await reachablePrograms(user, programs)).toBe(programs.directory);

    await chmod(programs.directory, 0o700);
    const copy = join('/var/tmp', programs.name);
    try {
      const copies = await Promise.all([reachablePrograms(user, programs), reachablePrograms(user, programs)]);
      expect(copies).toEqual([copy, copy]);
      const { command, args, ...identity } = user.wrap(join(copy, programs.probe), []);
      expect(execFileSync(command, args, { encoding: 'utf8', cwd: '/', ...identity })).toBe('runs\n');
      expect((await readdir('/var/tmp')).filter((name) => name.startsWith(programs.name))).toEqual([programs.name]);

      await chown(copy, user.uid, user.gid);
      await expect(reachablePrograms(user, programs)).rejects.toThrow('not a directory that only root can change');
    } finally {
      await rm(copy, { recursive: true, force: true });
    }
  },
);

test('each service has its own schema, can use no other one, and preparing twice changes nothing', async () => {
  const server = await startPostgres(options('services'));
  const names = Object.keys(serviceSchemas) as ServiceName[];
  const passwords = Object.fromEntries(names.map((name) => [name, `secret-of-${name}`])) as Record<ServiceName, string>;
  await prepareServiceDatabases({ adminUrl: server.url, passwords });
  const urls = await prepareServiceDatabases({ adminUrl: server.url, passwords });
  for (const name of names) {
    await withClient(urls[name], async (client) => {
      await client.query('create table thing (id int)');
      const { rows } = await client.query<{ schema: string }>('select current_schema() as schema');
      expect(rows).toEqual([{ schema: serviceSchemas[name].schema }]);
    });
  }
  await withClient(urls.quota, async (client) => {
    for (const name of names.filter((other) => other !== 'quota')) {
      const { schema } = serviceSchemas[name];
      await expect(client.query(`select * from ${schema}.thing`)).rejects.toThrow(
        `permission denied for schema ${schema}`,
      );
    }
    await expect(client.query('create table public.thing (id int)')).rejects.toThrow('permission denied');
    await expect(client.query('create temporary table thing (id int)')).rejects.toThrow('permission denied');
  });
  await server.stop();
});
