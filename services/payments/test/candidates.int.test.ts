import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { CheckoutHelp, FoundTransfers } from '@quittance/contracts/http/payments/look-ups.ts';
import { TransferObserved } from '@quittance/contracts/messages.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { accept, acceptAs, author, confirmed, expire, untilDetails, untilRecorded } from './acceptance-fixtures.ts';
import { dustOn } from './dust.ts';
import { newMerchant, newPayment, newWallet, type TestPayment, transferFor, wholeSecond } from './fixtures.ts';
import { type PaymentsUnderTest, startPayments } from './service.ts';

let payments: PaymentsUnderTest;
/** Merchants share wallets here. */
let unbound: PaymentsUnderTest;
beforeAll(async () => {
  [payments, unbound] = await Promise.all([startPayments(), startPayments({ settings: { WALLET_BINDING: 'off' } })]);
});
afterAll(() => Promise.all([payments.close(), unbound.close()]));

/** Payments of one merchant on one wallet, of these amounts. */
async function onOneWallet(...amounts: string[]): Promise<TestPayment[]> {
  const merchantId = await newMerchant(payments);
  const wallet = newWallet();
  const made: TestPayment[] = [];
  for (const amount of amounts) made.push(await newPayment(payments, { amount, wallet }, merchantId));
  return made;
}

/** A transfer to a payment's wallet that the ledger has, in a block of now. */
async function recorded(one: TestPayment, units: string, change: Partial<TransferObserved> = {}, on = payments) {
  const transfer = transferFor(one.merchantId, one.payment, {
    ...{ amount_units: units, block_timestamp: wholeSecond(new Date(), 0), ...confirmed, ...change },
  });
  await on.publish(TransferObserved, transfer);
  await untilRecorded(on, transfer);
  return transfer;
}

const listed = async (one: TestPayment) =>
  (await one.details()).unmatched_transfers.map(({ amount, reason, candidate_count: count }) => [
    amount,
    reason,
    count,
  ]);

async function arrived({ payment }: TestPayment): Promise<string | null> {
  const token = payment.payment_url.split('/').at(-1)!;
  const tokenSha256 = createHash('sha256').update(token).digest('hex');
  const { json } = await payments.call<CheckoutHelp>('POST', '/checkout-help', { token_sha256: tokenSha256 });
  return json.arrived?.amount ?? null;
}

const refused = (sentence: RegExp) => ({
  status: 409,
  json: { code: 'transfer_not_acceptable', detail: expect.stringMatching(sentence) as unknown as string },
});

const subscribe = (merchantId: string, on: PaymentsUnderTest) =>
  on.call('PUT', `/merchants/${merchantId}/webhook-choice`, { events: ['PAID', 'TRANSFER_UNMATCHED'], version: 2 });

const noticesOf = (merchantId: string, on: PaymentsUnderTest) =>
  on.received.notices.filter((notice) => notice.merchant_id === merchantId);

describe('details of a payment', () => {
  test('list no transfer that pays another payment, or is exactly another one’s amount', async () => {
    const [one, other, ended] = (await onOneWallet('10', '9.5', '9.6')) as [TestPayment, TestPayment, TestPayment];
    await recorded(other, '9500000');
    await untilDetails(other, { status: 'PAID' });
    await recorded(other, '9500000');
    await ended.age(5);
    await ended.cancel();
    await recorded(ended, '9600000', { block_timestamp: wholeSecond(new Date(), 1) });
    expect(await listed(other)).toEqual([['9.5', 'duplicate', 1]]);
    expect(await listed(ended)).toEqual([['9.6', 'after_cancel', 1]]);
    expect(await listed(one)).toEqual([]);
    expect(await arrived(one)).toBeNull();
  });

  test('and both pages of two open carts show the transfer that underpaid one of them', async () => {
    const [one, other] = (await onOneWallet('10', '10.5')) as [TestPayment, TestPayment];
    await recorded(one, '9800000');
    for (const cart of [one, other]) {
      expect(await listed(cart)).toEqual([['9.8', 'underpaid', 2]]);
      expect(await arrived(cart)).toBe('9.8');
    }
  });

  test('are not crowded out by dust: three hundred grains hide no near amount', async () => {
    const [one] = (await onOneWallet('49.9')) as [TestPayment];
    const near = await recorded(one, '49000000');
    const dust = dustOn(one, 300);
    await payments.publishAll(TransferObserved, dust);
    await Promise.all(dust.map((grain) => untilRecorded(payments, grain)));
    expect(await one.details()).toMatchObject({
      unmatched_transfers: [{ transaction_id: near.transaction_id, amount: '49', reason: 'underpaid' }],
    });
    expect(await arrived(one)).toBe('49');
  });

  test('of an older payment name its money behind a hundred and fifty newer carts of amounts as near', async () => {
    const [older] = (await onOneWallet('49.9')) as [TestPayment];
    const { merchantId, payment } = older;
    const wallet = payment.merchant_wallet;
    for (let tenths = 600; tenths < 750; tenths += 10) {
      const amounts = Array.from({ length: 10 }, (_, n) => String((tenths + n) / 10));
      await Promise.all(amounts.map((amount) => newPayment(payments, { amount, wallet }, merchantId)));
    }
    const short = await recorded(older, '49000000');
    const { candidates } = await untilRecorded(payments, short);
    expect(candidates).toHaveLength(20);
    expect(candidates?.[0]).toBe(payment.payment_id);
    expect(await listed(older)).toEqual([['49', 'underpaid', 20]]);
    expect(await arrived(older)).toBe('49');
  });
});

describe('a transfer of exactly the amount of another payment', () => {
  /** As an operator and as the merchant. */
  async function bothRefused(one: TestPayment, transfer: TransferObserved, sentence: RegExp): Promise<void> {
    expect(await accept(payments, one, transfer)).toMatchObject(refused(sentence));
    expect(await acceptAs(payments, one.merchantId, { one, transfer })).toMatchObject(refused(sentence));
    expect(await one.details()).toMatchObject({ status: 'PENDING', transaction: null });
  }

  test('that is paid is accepted for no payment of a different amount within 24 hours after its end', async () => {
    const [one, other] = (await onOneWallet('10', '9.5')) as [TestPayment, TestPayment];
    await recorded(other, '9500000');
    await untilDetails(other, { status: 'PAID' });
    const twice = await recorded(other, '9500000');
    await bothRefused(one, twice, /exactly the amount of another payment, pay_/);
    // It had ended more than a day before the block, so its amount alone claims the money for no payment.
    await other.age(60 * 24 + 31);
    expect(await acceptAs(payments, one.merchantId, { one, transfer: twice })).toMatchObject({ status: 200 });
  });

  test('that waits, or ended unpaid, is accepted for no payment of a different amount', async () => {
    const [one, first] = (await onOneWallet('10', '9.5')) as [TestPayment, TestPayment];
    await first.age(5);
    await first.cancel();
    const late = await recorded(first, '9500000', { block_timestamp: wholeSecond(new Date(), 1) });
    await bothRefused(one, late, /exactly the amount of another payment/);
    const second = await newPayment(payments, { amount: '9.5', wallet: one.payment.merchant_wallet }, one.merchantId);
    // Known before this one existed, it still belongs to the first one.
    await bothRefused(one, late, /exactly the amount of another payment/);
    const hasty = await recorded(second, '9500000', { block_timestamp: wholeSecond(second.payment.created_at, 2) });
    expect(await listed(second)).toEqual([['9.5', 'ambiguous', 2]]);
    await bothRefused(one, hasty, /exactly the amount of another payment/);
  });

  test('is accepted for no later payment of the same amount either, which it cannot be for', async () => {
    const [first] = (await onOneWallet('9.5')) as [TestPayment];
    await first.age(5);
    await first.cancel();
    const late = await recorded(first, '9500000', { block_timestamp: wholeSecond(new Date(), 1) });
    const next = await newPayment(payments, { amount: '9.5', wallet: first.payment.merchant_wallet }, first.merchantId);
    await bothRefused(next, late, /in the time of another payment/);
    expect(await acceptAs(payments, first.merchantId, { one: first, transfer: late })).toMatchObject({ status: 200 });
  });
});

describe('a transfer that may be for several payments', () => {
  test('is accepted only with the right number of candidates, and the candidates of others are then counted again', async () => {
    const [one, other] = (await onOneWallet('10', '10.5')) as [TestPayment, TestPayment];
    const { merchantId } = one;
    await subscribe(merchantId, payments);
    const transfer = await recorded(one, '9800000');
    const more = await recorded(one, '9900000');
    for (const by of [{}, { confirm_candidates: 1 }, { confirm_candidates: 3 }]) {
      const sentence = 'confirm_candidates' in by ? /2 payments now, not/ : /any of 2 payments.* confirm_candidates 2/;
      expect(await accept(payments, one, transfer, { ...author, ...by })).toMatchObject(refused(sentence));
      expect(await acceptAs(payments, merchantId, { one, transfer, ...by })).toMatchObject(refused(sentence));
    }
    const answer = await acceptAs(payments, merchantId, { one, transfer, confirm_candidates: 2 });
    expect(answer).toMatchObject({ status: 200, json: { status: 'PAID' } });
    expect(await listed(one)).toEqual([]);
    expect(await listed(other)).toEqual([['9.9', 'underpaid', 1]]);
    // The caller's view is out of date.
    expect(await acceptAs(payments, merchantId, { one: other, transfer: more, confirm_candidates: 2 })).toMatchObject(
      refused(/1 payment now, not 2/),
    );
    expect(await acceptAs(payments, merchantId, { one: other, transfer: more })).toMatchObject({ status: 200 });
    // Each was notified once, whatever was decided since.
    await eventually(() => expect(noticesOf(merchantId, payments)).toHaveLength(2));
  });

  test('is counted again when one of them is paid by other money', async () => {
    const [one, other] = (await onOneWallet('10', '10.5')) as [TestPayment, TestPayment];
    const transfer = await recorded(one, '9800000');
    await recorded(one, '10000000');
    await untilDetails(one, { status: 'PAID', unmatched_transfers: [] });
    expect(await listed(other)).toEqual([['9.8', 'underpaid', 1]]);
    expect(await accept(payments, other, transfer)).toMatchObject({ status: 200 });
  });

  test('of the same amount can be accepted for any of them', async () => {
    const [first] = (await onOneWallet('3')) as [TestPayment];
    await first.age(10);
    await first.cancel();
    const second = await newPayment(payments, { amount: '3', wallet: first.payment.merchant_wallet }, first.merchantId);
    const hasty = await recorded(second, '3000000', { block_timestamp: wholeSecond(second.payment.created_at, 1) });
    expect([await arrived(first), await arrived(second)]).toEqual(['3', '3']);
    expect(await acceptAs(payments, first.merchantId, { one: first, transfer: hasty })).toMatchObject(
      refused(/any of 2 payments/),
    );
    const transfer = { transfer: hasty, confirm_candidates: 2 };
    expect(await acceptAs(payments, first.merchantId, { one: first, ...transfer })).toMatchObject({ status: 200 });
    expect(await second.details()).toMatchObject({ status: 'PENDING', unmatched_transfers: [] });
  });
});

describe('a transfer that may be for payments of two merchants', () => {
  async function shared() {
    const wallet = newWallet();
    const [one, other] = [
      await newPayment(unbound, { amount: '10', wallet }),
      await newPayment(unbound, { amount: '10.4', wallet }),
    ];
    for (const { merchantId } of [one, other]) await subscribe(merchantId, unbound);
    const transfer = await recorded(one, '9800000', {}, unbound);
    return { one, other, transfer };
  }

  test('is accepted by none of them, only by an operator', async () => {
    const { one, other, transfer } = await shared();
    for (const each of [one, other])
      for (const confirming of [{}, { confirm_candidates: 1 }, { confirm_candidates: 2 }])
        expect(await acceptAs(unbound, each.merchantId, { one: each, transfer, ...confirming })).toMatchObject(
          refused(/another merchant: only an operator/),
        );
    expect(await accept(unbound, one, transfer)).toMatchObject(refused(/any of 2 payments/));
    expect(await accept(unbound, one, transfer, { ...author, confirm_candidates: 2 })).toMatchObject({ status: 200 });
  });

  test('notifies each with its own payment, and that another merchant has one', async () => {
    const { one, other, transfer } = await shared();
    for (const { merchantId, payment } of [one, other]) {
      await eventually(() =>
        expect(noticesOf(merchantId, unbound)).toMatchObject([
          { payment_id: null, expected_amount: null, candidates: [payment.payment_id], candidates_elsewhere: true },
        ]),
      );
      const path = `/merchants/${merchantId}/transfers?transaction_id=${transfer.transaction_id}`;
      expect((await unbound.call<FoundTransfers>('GET', path)).json.transfers).toMatchObject([
        { payment_id: null, candidates: [payment.payment_id], candidates_elsewhere: true },
      ]);
    }
  });
});

describe('money of the exact amount that came late', () => {
  test('is shown on the page of the expired payment, and on no later payment’s page', async () => {
    const [one] = (await onOneWallet('20')) as [TestPayment];
    await expire(payments, one);
    await recorded(one, '20000000', { block_timestamp: wholeSecond(new Date(), -1) });
    expect(await listed(one)).toEqual([['20', 'late', 1]]);
    expect(await arrived(one)).toBe('20');
    const next = await newPayment(payments, { amount: '20', wallet: one.payment.merchant_wallet }, one.merchantId);
    expect([await listed(next), await arrived(next)]).toEqual([[], null]);
    // A day later no page shows it.
    await one.age(60 * 24);
    expect(await arrived(one)).toBeNull();
  });
});
