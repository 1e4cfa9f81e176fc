import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import type { Outbox } from '@quittance/messaging/outbox/outbox.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import type { RouteRequest } from '@quittance/http/server/route.ts';
import { testDatabase, type TestDatabase, testPool } from '@quittance/testkit/database.ts';
import { createKeyVault } from '@quittance/runtime/key-vault.ts';
import { migrations, schema } from '../src/migrations.ts';
import { endpointRoutes } from '../src/endpoints/http.ts';
import type { Resolve } from '../src/sending/resolve.ts';

let database: TestDatabase;
let pool: Pool;
beforeAll(async () => {
  database = await testDatabase({ schema, migrations });
  pool = testPool({ url: database.url, schema, max: 2 });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

/** Calls PUT with a resolver of the test's, which no setting could provide. */
async function put(resolve: Resolve): Promise<unknown> {
  const nothing = (): never => {
    throw new Error('nothing should be said');
  };
  const outbox: Outbox = {
    send: nothing,
    sendAll: nothing,
    close: async () => undefined,
  };
  const vault = createKeyVault(randomBytes(32));
  const routes = endpointRoutes({ pool, outbox, vault, resolve, sendTest: nothing });
  const request = {
    params: { merchant_id: newId('mer') },
    headers: { 'content-type': 'application/json' },
    readBody: async () => ({ bytes: Buffer.from('{"url":"https://hooks.merchant.io/"}'), tooLarge: false }),
  } as unknown as RouteRequest;
  return Promise.resolve(routes.find(({ method }) => method === 'PUT')!.handle(request)).catch(
    (error: unknown) => error,
  );
}

test('a PUT of the endpoint answers 503 while the resolver fails, because the URL may be good', async () => {
  expect(await put(() => Promise.reject(new Error('SERVFAIL')))).toMatchObject({ status: 503 });
});

test('a PUT of the endpoint answers 503 within the time a merchant waits while the resolver does not answer', async () => {
  expect(await put(() => new Promise<string[]>(() => undefined))).toMatchObject({ status: 503 });
});

test('a PUT of the endpoint answers 422 when one of several addresses is private, without naming it', async () => {
  const error = await put(async () => ['8.8.8.8', '192.168.7.7']);
  expect(error).toMatchObject({ status: 422, detail: [{ field: 'url', reason: expect.any(String) }] });
  expect(JSON.stringify(error)).not.toContain('192.168');
});

test('none of these PUTs stored an endpoint or a key', async () => {
  const { rowCount } = await pool.query('select 1 from endpoint union all select 1 from signing_key');
  expect(rowCount).toBe(0);
});
