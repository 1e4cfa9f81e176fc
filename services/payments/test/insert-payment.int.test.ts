import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { transaction } from '@quittance/postgres/transaction.ts';
import { insertPayment, type NewPayment } from '../src/store/new-payment.ts';
import { type CreationDatabase, creationDatabase, newCreation, newGate } from './creation-rows.ts';

let database: CreationDatabase;
beforeAll(async () => {
  database = await creationDatabase(1);
  await newGate(database.db, 'mer_1');
});
afterAll(() => database.close());

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
  const messageId = randomUUID();
  const payment = { recipient: 'wallet', amount: String(amount), amount_units: amount, ...options };
  const creation = newCreation('mer_1', payment, { ...message, message_id: messageId });
  const { outcome } = await transaction(database.db, (tx) => insertPayment(tx, creation));
  const { rows } = await database.db.query<{ traceparent: string | null }>(
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
