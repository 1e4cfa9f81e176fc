import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TransferObserved } from '@quittance/contracts/messages.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { accept, author, countPaidMessages, confirmed, untilDetails, untilRecorded } from './acceptance-fixtures.ts';
import { type PaymentsUnderTest, startPayments } from './service.ts';
import { newMerchant, newPayment, newWallet, type TestPayment, wholeSecond } from './fixtures.ts';

// Real races are slow on a busy machine; no test here depends on the time.
let payments: PaymentsUnderTest;

beforeAll(async () => {
  payments = await startPayments();
});
afterAll(() => payments.close());

/** How many statements of the service wait for a row that another transaction holds. */
const waiting = async () =>
  (
    await payments.db.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%for update%'`,
    )
  ).rowCount ?? 0;

/**
 * Accepts the transfer for the older of two payments while settling is paused between finding it and deciding whether it pays the newer
 * one.
 * @param moved makes the service settle, which then waits for the older payment of the slot.
 */
async function race({
  older,
  freed,
  transfer,
  moved,
}: Record<'older' | 'freed', TestPayment> & Record<'transfer' | 'moved', TransferObserved>): Promise<void> {
  const holder = await payments.db.connect();
  await holder.query('begin; set local idle_in_transaction_session_timeout = 0');
  await holder.query('select from payment where payment_id = $1 for update', [older.payment.payment_id]);
  await payments.publish(TransferObserved, moved);
  await eventually(async () => expect(await waiting()).toBe(1));
  let isAnswered = false;
  const by = { ...author, confirm_candidates: 2 };
  const accepting = accept(payments, older, transfer, by).finally(() => (isAnswered = true));
  await eventually(async () => expect(isAnswered || (await waiting()) === 2).toBe(true));
  await holder.query('rollback');
  holder.release();
  expect((await accepting).status).toBe(200);
  await untilRecorded(payments, moved);
  expect([await countPaidMessages(payments, older), await countPaidMessages(payments, freed)]).toEqual([1, 0]);
  expect(await older.details()).toMatchObject({
    status: 'PAID',
    transaction: { transaction_id: transfer.transaction_id },
  });
  await untilDetails(freed, { status: 'PENDING', transaction: null, unmatched_transfers: [] });
}

// Decisions about one wallet are made one after the other. A transfer that a reorganisation moves to another wallet concerns two.
describe('a transfer that an operator accepts pays one payment', () => {
  test('also when another transfer, moved to another wallet by a reorg, frees a payment for it at the same time', async () => {
    const [merchant, wallet] = [await newMerchant(payments), newWallet()];
    const older = await newPayment(payments, { wallet, amount: '10' }, merchant);
    await older.age(5);
    await older.cancel();
    const freed = await newPayment(payments, { wallet, amount: '10' }, merchant);
    const moving = await freed.observe({ block_timestamp: wholeSecond(freed.payment.created_at, 6) });
    await untilDetails(freed, { status: 'CHECKING' });
    // So soon after the older one was cancelled that it may be for either.
    const hasty = { ...confirmed, block_timestamp: wholeSecond(freed.payment.created_at, 1) };
    const transfer = await freed.observe(hasty);
    expect(await untilRecorded(payments, transfer)).toMatchObject({ payment_id: null, reason: 'ambiguous' });
    await race({ older, freed, transfer, moved: { ...moving, version: 2, to: newWallet() } });
  });
});
