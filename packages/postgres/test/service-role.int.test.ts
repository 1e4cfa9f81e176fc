import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { testDatabase, type TestDatabase } from '@quittance/testkit/database.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { migrate } from '../src/migrations/migrate.ts';
import { createPool } from '../src/pool.ts';
import { addressOf, createDatabase, prepareSchema, withClient } from '../src/roles/service-databases.ts';
import { checkSession } from '../src/session.ts';

const CANARY = 'canary-password';
const suffix = randomBytes(6).toString('hex');
/** As managed servers give it: it may create roles and databases, and no more. */
const managed = { role: `managed_${suffix}`, password: 'managed' };
/** Owns a database, but may not create roles. */
const limited = { role: `limited_${suffix}`, password: 'limited' };
const own = `own_${suffix}`;
const one = { schema: 'one', role: `one_${suffix}`, password: 'first' };
const other = { schema: 'other', role: `other_${suffix}`, password: 'second' };
const login = { role: `login_${suffix}`, password: 'third' };

let database: TestDatabase;
/** The database that the managed administrator created. */
let adminUrl: string;
beforeAll(async () => {
  database = await testDatabase({ schema: 'roles', migrations: [] });
  await withClient(database.adminUrl, async (admin) => {
    await admin.query(`create role ${managed.role} login createrole createdb password 'managed'`);
    await admin.query(`create role ${limited.role} login password 'limited'`);
    const name = new URL(database.url).pathname.slice(1);
    await admin.query(`alter database ${name} owner to ${limited.role}`);
    await admin.query(`grant connect on database ${name} to ${managed.role}`);
  });
  const server = addressOf(database.adminUrl, { database: 'postgres', ...managed });
  await createDatabase(server, own);
  adminUrl = addressOf(server, { database: own });
});
afterAll(async () => {
  await database.drop();
  await withClient(addressOf(database.adminUrl, { database: 'postgres' }), async (admin) => {
    await admin.query(`drop database if exists ${own} with (force)`);
    // Its creator, and with that some of its memberships, are gone last.
    for (const { role } of [login, one, other, limited, managed]) await admin.query(`drop role if exists ${role}`);
  });
});

const failureOf = (run: Promise<unknown>) => run.then(() => null).catch((error: unknown) => error);

test('an administrator who may only create roles and databases sets up services that cannot read each other', async () => {
  const url = addressOf(adminUrl, one);
  for (const service of [one, other]) {
    await prepareSchema({ adminUrl, ...service });
    await migrate({
      url: addressOf(adminUrl, service),
      schema: service.schema,
      migrations: [{ directory: new URL('../../messaging/', import.meta.url), ledger: 'migrations', version: '1.0.0' }],
      logger: testLogger,
    });
  }
  await withClient(url, async (client) => {
    expect((await client.query('select current_schema()')).rows).toEqual([{ current_schema: 'one' }]);
    await client.query('select from outbox');
    const refused = ['select from other.outbox', 'create table public.mine ()', 'create temporary table mine ()'];
    for (const statement of refused) await expect(client.query(statement)).rejects.toThrow('permission denied');
  });
  // Without the right that it needed for a moment.
  await withClient(adminUrl, async (admin) => {
    await expect(admin.query('select from one.outbox')).rejects.toThrow('permission denied');
  });
});

test('it can do so again, and give a service a second login with the same settings', async () => {
  await prepareSchema({ adminUrl, ...one, password: 'changed', login });
  for (const credentials of [{ ...one, password: 'changed' }, login]) {
    const url = addressOf(adminUrl, credentials);
    await withClient(url, async (client) => {
      expect((await client.query('select current_user')).rows).toEqual([{ current_user: one.role }]);
      await client.query('select from outbox');
    });
    // The role's own settings suffice where a pooler drops those of the connection.
    const pooled = { url: `${url}?pgbouncer=true`, schema: 'one', max: 1, logger: testLogger, applicationName: 'test' };
    const pool = createPool(pooled);
    await checkSession(pool, 'one', { isPooled: true, options: '' });
    await pool.end();
  }
});

test('a database that belongs to somebody else is refused', async () => {
  await expect(
    prepareSchema({ adminUrl: addressOf(database.adminUrl, managed), ...one, schema: 'elsewhere' }),
  ).rejects.toThrow(`role ${managed.role} is not the owner of database`);
});

test("an error while roles are created shows no password, to the caller or in the server's log", async () => {
  const role = new URL(database.url).username;
  const failure = await failureOf(
    prepareSchema({
      adminUrl: addressOf(database.adminUrl, limited),
      ...{ schema: 'roles', role, password: CANARY },
      login: { role: `${limited.role}_2`, password: CANARY },
    }),
  );
  // The server logs an error's message, detail, context and statement. The statement is the file.
  expect(inspect(failure, { depth: 10 })).not.toContain(CANARY);
  expect(inspect(failure)).toContain(`role ${role} could not be changed: permission denied`);
});

test.each(['role', 'login'])(
  "a superuser as the service's %s is refused, and the error shows no password",
  async (as) => {
    const superuser = { role: new URL(database.adminUrl).username, password: CANARY };
    const service = { schema: 'roles', role: new URL(database.url).username, password: CANARY };
    const failure = await failureOf(
      prepareSchema({
        adminUrl: database.adminUrl,
        ...(as === 'role' ? { ...service, ...superuser } : { ...service, login: superuser }),
      }),
    );
    expect(inspect(failure, { depth: 10 })).not.toContain(CANARY);
    expect(inspect(failure)).toContain(`role ${superuser.role} must not be used by a service: it is a superuser`);
  },
);
