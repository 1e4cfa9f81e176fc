import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TransferObserved } from '@quittance/contracts/messages/transfer-observed.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { accept, countPaidMessages, confirmed, untilDetails, untilRecorded } from './acceptance-fixtures.ts';
import { type PaymentsUnderTest, startPayments } from './service.ts';
import { newMerchant, newPayment, newWallet, type TestPayment, wholeSecond } from './fixtures.ts';

// Real races on a busy machine take their time; nothing here passes or fails by it.
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

/** A payment that was cancelled before `amount` was asked for on the wallet again. */
async function cancelledBefore(merchant: string, wallet: string, amount: string): Promise<string> {
  const older = await newPayment(payments, { wallet, amount }, merchant);
  await older.cancel();
  await payments.db.query(
    `update payment set created_at = created_at - interval '1 minute', cancelled_at = cancelled_at - interval '50 seconds'
      where payment_id = $1`,
    [older.payment.payment_id],
  );
  return older.payment.payment_id;
}

/**
 * Has the transfer accepted for `other` while settling is held up between finding it and giving it to `freed`.
 * @param moved makes the service settle, which then waits for the older payment of the slot.
 */
async function race({
  olderId,
  freed,
  other,
  transfer,
  moved,
}: Record<'freed' | 'other', TestPayment> &
  Record<'transfer' | 'moved', TransferObserved> & { olderId: string }): Promise<void> {
  const holder = await payments.db.connect();
  await holder.query('begin; set local idle_in_transaction_session_timeout = 0');
  await holder.query('select from payment where payment_id = $1 for update', [olderId]);
  await payments.publish(TransferObserved, moved);
  await eventually(async () => expect(await waiting()).toBe(1));
  let isAnswered = false;
  const accepting = accept(payments, other, transfer).finally(() => (isAnswered = true));
  await eventually(async () => expect(isAnswered || (await waiting()) === 2).toBe(true));
  await holder.query('rollback');
  holder.release();
  const { status } = await accepting;
  await untilRecorded(payments, moved);
  const [winner, loser] = status === 200 ? [other, freed] : [freed, other];
  expect([await countPaidMessages(payments, winner), await countPaidMessages(payments, loser)]).toEqual([1, 0]);
  const paidBy = { transaction_id: transfer.transaction_id };
  expect(await winner.details()).toMatchObject({ status: 'PAID', transaction: paidBy });
  expect(await loser.details()).toMatchObject({ status: 'PENDING', transaction: null });
}

// What concerns one wallet is decided one after the other. A transfer that a reorganisation moves to another wallet concerns two.
describe('a transfer that an operator accepts pays one payment', () => {
  test('also when another transfer, moved to another wallet by a reorg, frees a payment for it at the same time', async () => {
    const [merchant, wallet] = [await newMerchant(payments), newWallet()];
    const olderId = await cancelledBefore(merchant, wallet, '10');
    const freed = await newPayment(payments, { wallet, amount: '10' }, merchant);
    const other = await newPayment(payments, { wallet, amount: '11' }, merchant);
    const moving = await freed.observe();
    await untilDetails(freed, { status: 'CHECKING' });
    const blockTime = wholeSecond(freed.payment.created_at, -5);
    const transfer = await freed.observe({ ...confirmed, block_timestamp: blockTime });
    expect(await untilRecorded(payments, transfer)).toMatchObject({ payment_id: null, reason: 'duplicate' });
    const moved = { ...moving, version: 2, to: newWallet() };
    await race({ olderId, freed, other, transfer, moved });
  });
});
