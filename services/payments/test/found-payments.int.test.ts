import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parseReference, referenceOf } from '@quittance/contracts/payment-reference.ts';
import { newId, sha256 } from '@quittance/contracts/ids.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { type TestDatabase, testDatabase, testPool } from '@quittance/testkit/database.ts';
import { migrations, schema } from '../src/migrations.ts';
import { findPayments, type Sought } from '../src/finding/find.sql.ts';
import { insertPast, pastPayment, type PastPayment, transferOf } from './finding-fixtures.ts';

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await testDatabase({ schema, migrations });
  pool = testPool({ url: database.url, schema, max: 3 });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const midnight = (day: string): number => Date.parse(`${day}T00:00:00Z`);

describe('an operator finds', () => {
  const nothing: Sought = {
    ...{ paymentId: null, tokenSha256: null, orderId: null, idEnd: null, transactionId: null, recipient: null },
  };
  const find = async (sought: Partial<Sought>) =>
    (await findPayments(pool, { ...nothing, ...sought }, ['local'])).map(({ payment_id: id, found_by: by }) => [
      id,
      by,
    ]);

  test('a payment of any merchant by each of its references, once', async () => {
    const created_at = new Date(midnight('2026-03-01'));
    const wallet = '0x8617E340B3D01FA5F11F306F4090FD50E238070D';
    const [tea, cup, other] = ['tea', 'cup', 'other'].map((name) =>
      pastPayment({
        ...{ merchant_id: newId('mer'), created_at, order_id: `order of ${name}`, status: 'PAID' },
        ...(name !== 'other' && { recipient: wallet, amount_units: name.length + name.charCodeAt(0) }),
      }),
    ) as [PastPayment, PastPayment, PastPayment];
    const transfer = transferOf(cup, false, 6);
    await insertPast(pool, [tea, cup, other], [transfer]);
    await pool.query('update payment set created_at = created_at + $2 where payment_id = $1', [
      cup.payment_id,
      '1 minute',
    ]);

    expect(await find({ paymentId: tea.payment_id })).toEqual([[tea.payment_id, 'payment_id']]);
    expect(await find({ tokenSha256: sha256(tea.public_token).toString('hex') })).toEqual([[tea.payment_id, 'token']]);
    expect(await find({ orderId: 'order of tea' })).toEqual([[tea.payment_id, 'order_id']]);
    expect(await find({ idEnd: parseReference(referenceOf(tea.payment_id)) })).toEqual([[tea.payment_id, 'reference']]);
    expect(await find({ transactionId: transfer.transaction_id })).toEqual([[cup.payment_id, 'transaction_id']]);
    expect(await find({ recipient: wallet })).toEqual([
      [cup.payment_id, 'merchant_wallet'],
      [tea.payment_id, 'merchant_wallet'],
    ]);
    expect(await find({ recipient: wallet, paymentId: tea.payment_id })).toEqual([
      [cup.payment_id, 'merchant_wallet'],
      [tea.payment_id, 'payment_id'],
    ]);
    expect(await find({})).toEqual([]);
  });
});
