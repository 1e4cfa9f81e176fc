import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { testDatabase, type TestDatabase } from '@quittance/testkit/database.ts';
import { testLogger } from '@quittance/testkit/logger.ts';

import { createPool, type Pool } from '../src/pool.ts';
import { transaction } from '../src/transaction.ts';

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await testDatabase({ schema: 'shop', migrations: [] });
  pool = createPool({ url: database.url, schema: 'shop', max: 1, logger: testLogger, applicationName: 'test' });
  await pool.query('create table items (name text)');
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

/** The effect of a cancellation during `begin`: an error, and the session has no transaction. */
const CANCELLED = `do $$ begin raise exception 'begin was cancelled' using errcode = '57014'; end $$`;

/** Makes every `begin` on the pool's only connection fail until the returned function is called. */
async function failBegins(): Promise<() => void> {
  const client = await pool.connect();
  const plain = client.query.bind(client) as (...rest: unknown[]) => unknown;
  const spoiled = (text: unknown, ...rest: unknown[]) =>
    plain(typeof text === 'string' && text.startsWith('begin') ? CANCELLED : text, ...rest);
  Object.assign(client, { query: spoiled });
  client.release();
  return () => void Object.assign(client, { query: plain });
}

test.each([undefined, 1_000])(
  'nothing is stored when begin fails, with a lock timeout of %s',
  async (lockTimeoutMs) => {
    const insert = () =>
      transaction(
        pool,
        async (tx) => {
          await tx.query(`insert into items values ('first')`);
          await tx.query(`insert into items values ('second')`);
        },
        lockTimeoutMs === undefined ? {} : { lockTimeoutMs },
      );
    const restore = await failBegins();
    await expect(insert()).rejects.toThrow('begin was cancelled');
    restore();
    expect((await pool.query('select from items')).rowCount).toBe(0);
    await insert();
    expect((await pool.query('delete from items')).rowCount).toBe(2);
  },
);
