import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ResponseOf } from '@quittance/contracts/call.ts';
import type { ReadArchivable, RemoveArchived } from '@quittance/contracts/http/payments/archive.ts';
import type { Report } from '@quittance/contracts/http/payments/reports.ts';
import { newId } from '@quittance/contracts/ids.ts';
import { TransferObserved } from '@quittance/contracts/messages.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { newMerchant, newPayment, wholeSecond } from './fixtures.ts';
import { findViolations } from './invariants.ts';
import { type PaymentsUnderTest, startPayments } from './service.ts';

const DAY_MS = 86_400_000;
const AGE_DAYS = 120;
const before = new Date(Date.now() - 100 * DAY_MS).toISOString();

let payments: PaymentsUnderTest;
beforeAll(async () => {
  payments = await startPayments();
});
afterAll(() => payments.close());

type Page = ResponseOf<typeof ReadArchivable>;
const read = async (after = '') =>
  (await payments.call<Page>('GET', `/archive/payments?before=${before}&after=${after}`)).json;
const remove = async (archived: readonly { payment_id: string; sha256: string }[]) =>
  (
    await payments.call<ResponseOf<typeof RemoveArchived>>('POST', '/archive/removals', {
      ...{ actor: 'olga', reason: 'the year is over' },
      payments: archived.map(({ payment_id, sha256 }) => ({ payment_id, sha256 })),
    })
  ).json;

/** A payment that was created and paid 120 days ago, with an id of that time. */
async function paidLongAgo(merchant?: string) {
  const paid = await newPayment(payments, {}, merchant);
  const transfer = await paid.observe({ phase: 'confirmed', confirmations: 2 });
  await eventually(async () => expect((await paid.details()).status).toBe('PAID'));
  const id = newId('pay', new Date(Date.now() - AGE_DAYS * DAY_MS));
  const ago = `interval '${AGE_DAYS} days'`;
  await payments.db.query('delete from idempotent_reply where merchant_id = $1', [paid.merchantId]);
  await payments.db.query(
    `update gate set used_day = (created_at - ${ago})::date from payment p
      where payment_id = $1 and gate.merchant_id = p.merchant_id`,
    [paid.payment.payment_id],
  );
  await payments.db.query(
    `with aged as (
       update payment set payment_id = $2, created_at = created_at - ${ago}, expires_at = expires_at - ${ago}, paid_at = paid_at - ${ago}
        where payment_id = $1)
     update transfer set payment_id = $2, block_timestamp = block_timestamp - ${ago}, observed_at = observed_at - ${ago}
      where payment_id = $1`,
    [paid.payment.payment_id, id],
  );
  return { ...paid, id, transfer };
}

const archivedOf = async (id: string) => (await read()).payments.filter(({ payment_id }) => payment_id === id);

describe('a payment that ended long ago', () => {
  test('is removed with the hash it was read with, and its merchant’s report and limits do not change', async () => {
    const paid = await paidLongAgo();
    const { rows } = await payments.db.query<{ from: string; to: string }>(
      'select created_at::date::text as from, paid_at::date::text as to from payment where payment_id = $1',
      [paid.id],
    );
    const path = `/merchants/${paid.merchantId}/report?from=${rows[0]!.from}&to=${rows[0]!.to}`;
    const { json: report } = await payments.call<Report>('GET', path);
    expect(report.totals).toMatchObject({ created: 1, paid: 1, paid_amount: '10.5' });

    const archived = await archivedOf(paid.id);
    expect(archived).toMatchObject([
      { record: { payment: { status: 'PAID', amount_units: '10500000' }, transfers: [{ payment_id: paid.id }] } },
    ]);
    expect(JSON.stringify(archived)).not.toContain(paid.payment.payment_url.split('/').at(-1));
    expect(await remove(archived)).toEqual({ removed: 1, kept: [] });

    expect((await payments.call<Report>('GET', path)).json).toEqual(report);
    const details = { payments: [{ merchant_id: paid.merchantId, payment_id: paid.id }] };
    expect((await payments.call('POST', '/payment-details', details)).json).toMatchObject({ found: [] });
    expect(await findViolations(payments.db, { merchants: [paid.merchantId], received: null })).toEqual([]);
    // A lost answer is requested again.
    expect(await remove(archived)).toEqual({ removed: 0, kept: [] });
    expect((await payments.call<Report>('GET', path)).json).toEqual(report);
  });

  test('is added to the totals of those of its day archived before it', async () => {
    const first = await paidLongAgo();
    const second = await paidLongAgo(first.merchantId);
    const { rows } = await payments.db.query<{ from: string; to: string }>(
      `select min(created_at)::date::text as from, max(paid_at)::date::text as to from payment where merchant_id = $1`,
      [first.merchantId],
    );
    const path = `/merchants/${first.merchantId}/report?from=${rows[0]!.from}&to=${rows[0]!.to}`;
    const { json: report } = await payments.call<Report>('GET', path);
    expect(report.totals).toMatchObject({ created: 2, paid: 2, paid_amount: '21' });
    for (const { id } of [first, second]) {
      expect(await remove(await archivedOf(id))).toEqual({ removed: 1, kept: [] });
      expect((await payments.call<Report>('GET', path)).json).toEqual(report);
    }
  });

  test('stays when something about it has changed since it was read', async () => {
    const paid = await paidLongAgo();
    const archived = await archivedOf(paid.id);
    await payments.db.query('update transfer set version = version + 1 where payment_id = $1', [paid.id]);
    expect(await remove(archived)).toEqual({ removed: 0, kept: [paid.id] });
    expect(await archivedOf(paid.id)).toHaveLength(1);
  });

  test('stays while another transaction has it', async () => {
    const paid = await paidLongAgo();
    const archived = await archivedOf(paid.id);
    const holder = await payments.db.connect();
    try {
      await holder.query('begin');
      await holder.query('select from payment where payment_id = $1 for update', [paid.id]);
      expect(await remove(archived)).toEqual({ removed: 0, kept: [paid.id] });
    } finally {
      await holder.query('rollback');
      holder.release();
    }
  });

  test.each([
    ['it is not over', `update payment set status = 'PENDING', paid_at = null where payment_id = $1`],
    ['it ended lately', 'update payment set paid_at = now() where payment_id = $1'],
    ['its transfer was observed lately', 'update transfer set observed_at = now() where payment_id = $1'],
    ['its transfer is not confirmed', `update transfer set phase = 'seen' where payment_id = $1`],
    [
      'money that may still pay it is not confirmed yet',
      `update transfer set payment_id = null, related_payment_id = $1, reason = null where payment_id = $1`,
    ],
    [
      'an incident is about it',
      `insert into incident (kind, payment_id, merchant_id, network, transaction_id, transaction_event_index, block_hash, opened_at)
       select 'paid_transfer_gone', payment_id, merchant_id, network, transaction_id, transaction_event_index, block_hash, now()
         from transfer where payment_id = $1`,
    ],
  ])('is not archived while %s', async (_why, change) => {
    const paid = await paidLongAgo();
    const archived = await archivedOf(paid.id);
    expect(archived).toHaveLength(1);
    await payments.db.query(change, [paid.id]);
    expect(await archivedOf(paid.id)).toEqual([]);
    expect(await remove(archived)).toEqual({ removed: 0, kept: [paid.id] });
  });

  test('is paid for good: its transfer pays no other payment, whatever the chain shows later', async () => {
    const paid = await paidLongAgo();
    expect(await remove(await archivedOf(paid.id))).toEqual({ removed: 1, kept: [] });
    const { amount, merchant_wallet: wallet } = paid.payment;
    const next = await newPayment(payments, { amount, wallet }, paid.merchantId);
    const moved = { ...paid.transfer, version: 2, block_timestamp: wholeSecond(next.payment.created_at, 1) };
    await payments.publish(TransferObserved, moved);
    await eventually(() =>
      expect(payments.logs().map(({ msg }) => msg)).toContain('the transfer of an archived payment was observed again'),
    );
    expect((await next.details()).status).toBe('PENDING');
    // The next transfer is settled as usual, so the first one has delayed none.
    await next.observe({ phase: 'confirmed', confirmations: 2 });
    await eventually(async () => expect((await next.details()).status).toBe('PAID'));
    const { rows } = await payments.db.query('select payment_id from transfer where transaction_id = $1', [
      paid.transfer.transaction_id,
    ]);
    expect(rows).toEqual([{ payment_id: paid.id }]);
  });

  test('takes no other merchant’s transfers with it: on a shared wallet they stay with the merchants they concern', async () => {
    const paid = await paidLongAgo();
    const other = await newMerchant(payments);
    await payments.db.query('update transfer set merchant_id = $2 where payment_id = $1', [paid.id, other]);
    await remove(await archivedOf(paid.id));
    const { rows } = await payments.db.query('select merchant_id from transfer where payment_id = $1', [paid.id]);
    expect(rows).toEqual([{ merchant_id: paid.merchantId }]);
  });
});

test('nothing that ended in the last 90 days is archived', async () => {
  const lately = new Date(Date.now() - 89 * DAY_MS).toISOString();
  const { status, json } = await payments.call('GET', `/archive/payments?before=${lately}`);
  expect({ status, json }).toMatchObject({
    status: 422,
    json: { detail: [{ field: 'before', reason: 'must be a time at least 90 days ago' }] },
  });
});
