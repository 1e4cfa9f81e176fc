import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { testDatabase, type TestDatabase } from '@quittance/testkit/database.ts';
import { addressOf, prepareSchema, withClient } from '../src/roles/service-databases.ts';

const CANARY = 'canary-password';
const name = `limited_${randomBytes(6).toString('hex')}`;

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase({ schema: 'roles', migrations: [] });
});
afterAll(async () => {
  await withClient(database.adminUrl, async (admin) => {
    await admin.query(`drop owned by ${name}`);
    await admin.query(`drop role ${name}`);
  });
  await database.drop();
});

test("an error while roles are created shows no password, to the caller or in the server's log", async () => {
  const limited = { role: name, password: 'limited' };
  await withClient(database.adminUrl, async (admin) => {
    await admin.query(`create role ${name} login createrole password 'limited'`);
    await admin.query(`grant connect on database ${new URL(database.url).pathname.slice(1)} to ${name}`);
  });
  const role = new URL(database.url).username;
  const failure: unknown = await prepareSchema({
    adminUrl: addressOf(database.adminUrl, limited),
    ...{ schema: 'roles', role, password: CANARY },
    login: { role: `${name}_2`, password: CANARY },
  }).catch((error: unknown) => error);
  // The server logs an error's message, detail, context and statement. The statement is the file.
  expect(inspect(failure, { depth: 10 })).not.toContain(CANARY);
  expect(inspect(failure)).toContain(`role ${role} could not be changed: permission denied`);
});

test('an error while the second login is created shows none either', async () => {
  const role = new URL(database.url).username;
  // PostgreSQL never lets the first superuser become an ordinary role.
  const superuser = new URL(database.adminUrl).username;
  const failure: unknown = await prepareSchema({
    adminUrl: database.adminUrl,
    ...{ schema: 'roles', role, password: CANARY },
    login: { role: superuser, password: CANARY },
  }).catch((error: unknown) => error);
  expect(inspect(failure, { depth: 10 })).not.toContain(CANARY);
  expect(inspect(failure)).toContain(`role ${superuser} could not be changed: permission denied`);
});
