import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId, newPublicToken, sha256 } from '@quittance/contracts/ids.ts';
import { createPool, type Pool } from '@quittance/postgres/pool.ts';
import { testDatabase, type TestDatabase } from '@quittance/testkit/database.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { migrations, schema } from '../src/migrations.ts';

let database: TestDatabase;
let db: Pool;
beforeAll(async () => {
  database = await testDatabase({ schema, migrations });
  db = createPool({ url: database.url, schema, max: 1, applicationName: 'test', logger: testLogger });
  await db.query('select keep_reply_partitions()');
  await db.query(
    `insert into gate (merchant_id, policy_version, access_type, account_active, creation_paused, beta_duration_days, total_limit,
                       package_number, webhook_ok)
     values ('mer_1', 1, 'legacy', true, false, 30, 100, 1, true)`,
  );
});
afterAll(async () => {
  await db.end();
  await database.drop();
});

/** Calls the function as a process of that version does. @returns the outcome and its message's traceparent. */
async function create(
  amount: bigint,
  ...traceparent: string[]
): Promise<{ outcome: string; traceparent: string | null }> {
  const [token, messageId] = [newPublicToken(), randomUUID()];
  const values = [
    ...[
      newId('pay'),
      'mer_1',
      token,
      sha256(token),
      'local',
      'wallet',
      String(amount),
      amount,
      'coffee',
      '1800 seconds',
    ],
    ...[false, randomUUID(), sha256('request'), ['{"a":"', '","b":"', '"}']],
    ...[messageId, 'PaymentCreated', 1, ['{"a":"', '","b":"', '"}'], 'request-1', ...traceparent],
  ];
  const places = values.map((_, index) => `$${index + 1}`).join(', ');
  const { rows } = await db.query<{ outcome: string }>(`select outcome from create_payment(${places})`, values);
  const { rows: said } = await db.query<{ traceparent: string | null }>(
    'select traceparent from outbox where message_id = $1',
    [messageId],
  );
  return { outcome: rows[0]!.outcome, traceparent: said[0]?.traceparent ?? null };
}

test('a process from before traces and one from after create side by side, by the same rule', async () => {
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  expect(await create(1n)).toEqual({ outcome: 'created', traceparent: null });
  expect(await create(2n, traceparent)).toEqual({ outcome: 'created', traceparent });
  expect(await create(2n)).toMatchObject({ outcome: 'slot_taken' });
  expect(await create(1n, traceparent)).toMatchObject({ outcome: 'slot_taken' });
});
