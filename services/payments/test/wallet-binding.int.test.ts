import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { CreationLimits } from '@quittance/contracts/access.ts';
import type { OperatorsPayment } from '@quittance/contracts/http/payments/payments.ts';
import { accept, confirmed, untilRecorded } from './acceptance-fixtures.ts';
import { type PaymentsUnderTest, startPayments } from './service.ts';
import { create, newMerchant, newPayment, newWallet, type TestPayment, wholeSecond } from './fixtures.ts';

// Real processes are slow on a busy machine; no test here depends on the time.
let payments: PaymentsUnderTest;
beforeAll(async () => {
  payments = await startPayments({ replicas: 2, settings: { WALLET_BINDING: 'off' } });
});
afterAll(() => payments.close());

test('with WALLET_BINDING=off merchants share a wallet, but only one gets a slot and only it is counted', async () => {
  const wallet = newWallet();
  const merchants = await Promise.all(Array.from({ length: 6 }, () => newMerchant(payments)));
  const own = await Promise.all(
    merchants.map((merchantId, position) => create(payments, merchantId, { wallet, amount: String(position + 1) })),
  );
  expect(own.map(({ status }) => status)).toEqual(merchants.map(() => 201));
  const shared = await Promise.all(
    merchants.map((merchantId) => create(payments, merchantId, { wallet, amount: '99' })),
  );
  expect(shared.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
  for (const [position, merchantId] of merchants.entries()) {
    const { json } = await payments.call<CreationLimits>('GET', `/merchants/${merchantId}/limits`);
    expect(json.lifetime_requests_used).toBe(shared[position]?.status === 201 ? 2 : 1);
  }
});

/** What the merchant sees with a payment, and what the operator sees. */
const shownWith = async ({ details, payment }: TestPayment) => {
  const { json } = await payments.call<OperatorsPayment>('GET', `/payments/${payment.payment_id}`);
  const own = ({ reason, amount }: { reason: string | null; amount: string }) => ({ reason, amount });
  return {
    status: (await details()).status,
    merchant: (await details()).unmatched_transfers.map(own),
    operator: json.transfers.filter(({ payment_id: pays }) => pays === null).map(own),
  };
};

describe('on a wallet that two merchants share, an unmatched transfer', () => {
  /** A small payment of one merchant, then a large one of another; a transfer is published for the one who used the wallet last. */
  const twoMerchants = async () => {
    const wallet = newWallet();
    const small = await newPayment(payments, { amount: '10', wallet });
    const large = await newPayment(payments, { amount: '500', wallet });
    return { small, large, merchant_id: large.merchantId, block: wholeSecond(large.payment.created_at, 1) };
  };

  test('is shown, and can be accepted, only at the merchant whose payment is nearest to it', async () => {
    const { small, large, merchant_id, block } = await twoMerchants();
    const transfer = await small.observe({
      merchant_id,
      block_timestamp: block,
      amount_units: '9500000',
      ...confirmed,
    });
    await untilRecorded(payments, transfer);
    const seen = [{ reason: 'underpaid', amount: '9.5' }];
    expect(await shownWith(small)).toEqual({ status: 'PENDING', merchant: seen, operator: seen });
    expect(await shownWith(large)).toEqual({ status: 'PENDING', merchant: [], operator: [] });

    const refused = await accept(payments, large, transfer);
    expect([refused.status, refused.json.detail]).toEqual([
      409,
      `This transfer may be for payments of another merchant: ${small.payment.payment_id}`,
    ]);
    expect((await accept(payments, small, transfer)).json).toMatchObject({ unmatched_reason: 'underpaid' });
    expect(await shownWith(small)).toEqual({ status: 'PAID', merchant: [], operator: [] });
    expect(await shownWith(large)).toMatchObject({ status: 'PENDING' });
  });

  test('and that came late for one of them belongs to it, also while the other waits', async () => {
    const { small, large, merchant_id } = await twoMerchants();
    await small.age(40);
    // A waiting payment has no late money yet.
    await small.cancel();
    const transfer = await small.observe({
      ...confirmed,
      ...{ merchant_id, block_timestamp: wholeSecond(large.payment.created_at, -60) },
    });
    await untilRecorded(payments, transfer);
    const seen = [{ reason: 'late', amount: '10' }];
    expect(await shownWith(small)).toMatchObject({ merchant: seen, operator: seen });
    expect(await shownWith(large)).toMatchObject({ merchant: [], operator: [] });
    expect((await accept(payments, large, transfer)).status).toBe(409);
    expect((await accept(payments, small, transfer)).status).toBe(200);
  });

  test('and that is found when only the other one still waits, belongs to the one who waited at the time of its block', async () => {
    const { small, large, merchant_id } = await twoMerchants();
    await small.age(40);
    const transfer = await small.observe({
      ...{ merchant_id, amount_units: '9500000', block_timestamp: wholeSecond(small.payment.created_at, 1 - 39 * 60) },
    });
    await untilRecorded(payments, transfer);
    expect(await shownWith(small)).toMatchObject({ merchant: [{ reason: 'underpaid', amount: '9.5' }] });
    expect(await shownWith(large)).toMatchObject({ merchant: [], operator: [] });
    expect((await accept(payments, large, transfer)).status).toBe(409);
    expect((await accept(payments, small, transfer)).status).toBe(200);
  });
});
