import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId, newPublicToken, sha256 } from '@quittance/contracts/ids.ts';
import { createPool, type Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { testDatabase, type TestDatabase } from '@quittance/testkit/database.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { migrations, schema } from '../src/migrations.ts';
import { insertPayment, type NewPayment } from '../src/store/new-payment.ts';

let database: TestDatabase;
let db: Pool;
beforeAll(async () => {
  database = await testDatabase({ schema, migrations });
  db = createPool({ url: database.url, schema, max: 1, applicationName: 'test', logger: testLogger });
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

/**
 * @param message its fields beyond those that every process writes.
 * @param options columns of the payment that a process of 0.1.0 does not know.
 * @returns the outcome and the message's traceparent.
 */
async function create(
  amount: bigint,
  message: { traceparent?: string } = {},
  options: Partial<NewPayment['payment']> = {},
): Promise<{ outcome: string; traceparent: string | null }> {
  const [token, messageId] = [newPublicToken(), randomUUID()];
  const common = { message_id: messageId, name: 'PaymentCreated', version: 1, merchant_id: 'mer_1', request_id: 'r-1' };
  const { outcome } = await transaction(db, (tx) =>
    insertPayment(tx, {
      payment: {
        payment_id: newId('pay'),
        merchant_id: 'mer_1',
        public_token: token,
        token_sha256: sha256(token),
        network: 'local',
        recipient: 'wallet',
        amount: String(amount),
        amount_units: amount,
        description: 'coffee',
        ...options,
      } as NewPayment['payment'],
      ttlSeconds: 1800,
      bindWallet: false,
      idempotencyKey: randomUUID(),
      fingerprint: sha256('request'),
      reply: ['{"a":"', '","b":"', '"}'],
      message: { ...common, ...message, body: ['{"a":"', '","b":"', '"}'] } as NewPayment['message'],
    }),
  );
  const { rows } = await db.query<{ traceparent: string | null }>(
    'select traceparent from outbox where message_id = $1',
    [messageId],
  );
  return { outcome, traceparent: rows[0]?.traceparent ?? null };
}

test('a process that does not know the options of a creation creates beside one that does, by the same rule', async () => {
  const known = {
    order_id: 'shop-7',
    metadata: { shelf: 'B' },
    return_url: 'https://shop.example',
    requested_amount: null,
  };
  expect(await create(3n, {}, known)).toMatchObject({ outcome: 'created' });
  expect(await create(3n)).toMatchObject({ outcome: 'slot_taken' });
  expect(await create(4n)).toMatchObject({ outcome: 'created' });
  expect(await create(4n, {}, known)).toMatchObject({ outcome: 'slot_taken' });
});

test('a process that does not know a column of the message creates beside one that does, by the same rule', async () => {
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  expect(await create(1n)).toEqual({ outcome: 'created', traceparent: null });
  expect(await create(2n, { traceparent })).toEqual({ outcome: 'created', traceparent });
  expect(await create(2n)).toMatchObject({ outcome: 'slot_taken' });
  expect(await create(1n, { traceparent })).toMatchObject({ outcome: 'slot_taken' });
});
