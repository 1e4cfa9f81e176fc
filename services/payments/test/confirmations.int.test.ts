import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sha256 } from '@quittance/contracts/ids.ts';
import { TransferObserved } from '@quittance/contracts/messages.ts';
import type { ResponseOf } from '@quittance/contracts/call.ts';
import type { OperatorsPayment, ReadPublicPayments } from '@quittance/contracts/http/payments/payments.ts';
import type { CheckoutPayment } from '@quittance/contracts/api/checkout.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { network, type PaymentsUnderTest, startPayments } from './service.ts';
import { newPayment, type PaymentPage, type TestPayment } from './fixtures.ts';

// Real processes are slow on a busy machine; no test here depends on the time.
let payments: PaymentsUnderTest;
beforeAll(async () => {
  payments = await startPayments();
});
beforeEach(() => {
  payments.stubs.tips.heights.clear();
  payments.stubs.tips.before = async () => {};
  payments.stubs.down.clear();
});
afterAll(() => payments.close());

const hashOf = ({ payment }: TestPayment): string => sha256(payment.payment_url.split('/').at(-1)!).toString('hex');
const view = async (one: TestPayment): Promise<CheckoutPayment> => {
  const json = { tokens_sha256: [hashOf(one)] };
  const { status, json: answer } = await payments.call<ResponseOf<typeof ReadPublicPayments>>(
    'POST',
    '/public-payments',
    json,
  );
  if (status !== 200) throw new Error(`the view answered ${status}`);
  return answer.found[0]!;
};
const untilSeen = (one: TestPayment, seen: number, required = 12) =>
  eventually(async () =>
    expect(await view(one)).toMatchObject({ payment: { status: 'CHECKING' }, confirmations: { seen, required } }),
  );
/** Until chain-watcher has been asked, and once more: by then the first question has ended. */
const untilAskedTwice = async (check: () => Promise<void>): Promise<void> => {
  const { asked } = payments.stubs.tips;
  await eventually(async () => {
    await check();
    expect(payments.stubs.tips.asked).toBeGreaterThan(asked + 1);
  });
};
const listed = async ({ merchantId }: TestPayment) =>
  (await payments.call<PaymentPage>('GET', `/merchants/${merchantId}/payments`)).json.payments[0];
const shownToOperators = async ({ payment }: TestPayment) =>
  (await payments.call<OperatorsPayment>('GET', `/payments/${payment.payment_id}`)).json;
const scannedTo = (height: number) => payments.stubs.tips.heights.set(network, height);

const BLOCK = 5_000;
const firstSeen = { block_number: BLOCK, confirmations: 1, confirmations_required: 12 };

/** A payment whose transfer was seen in the newest block, with no further message about it. */
async function checkingPayment() {
  const one = await newPayment(payments);
  const seen = await one.observe(firstSeen);
  await untilSeen(one, 1);
  return {
    one,
    seen,
    publish: (news: Partial<TransferObserved>) => payments.publish(TransferObserved, { ...seen, ...news }),
  };
}

describe('the confirmations of a payment that is CHECKING', () => {
  test('grow with each block up to what is required, for the page, the merchant and operators, without a new message', async () => {
    const { one } = await checkingPayment();
    for (const [height, seen] of [
      [BLOCK + 3, 4],
      // Far deeper than required and not confirmed: the chain has not called the block final.
      [BLOCK + 500, 12],
    ] as const) {
      scannedTo(height);
      await untilSeen(one, seen);
      const transaction = { confirmations: seen, confirmations_required: 12 };
      expect((await one.details()).transaction).toMatchObject(transaction);
      expect((await listed(one))?.transaction).toMatchObject(transaction);
      expect(await shownToOperators(one)).toMatchObject({ transaction, transfers: [transaction] });
    }
    expect(Object.keys((await view(one)).payment).toSorted()).toEqual(publicFields);
  });

  test('are those of the last message while chain-watcher is behind it', async () => {
    const { one } = await checkingPayment();
    scannedTo(BLOCK - 4_000);
    await untilAskedTwice(async () => expect((await view(one)).confirmations).toEqual({ seen: 1, required: 12 }));
  });

  test('stay as they were last known while chain-watcher fails, and continue when it is back', async () => {
    const { one } = await checkingPayment();
    scannedTo(BLOCK + 4);
    await untilSeen(one, 5);
    payments.stubs.down.add('chain-watcher');
    scannedTo(BLOCK + 6);
    await untilAskedTwice(async () => expect((await view(one)).confirmations).toEqual({ seen: 5, required: 12 }));
    payments.stubs.down.clear();
    await untilSeen(one, 7);
  });

  test('are shown while chain-watcher does not answer', async () => {
    const { one } = await checkingPayment();
    scannedTo(BLOCK + 4);
    const { promise: held, resolve: release }: PromiseWithResolvers<void> = Promise.withResolvers();
    payments.stubs.tips.before = () => held;
    // chain-watcher has answered nothing since, and each time there was something to show.
    await untilAskedTwice(async () => expect((await view(one)).confirmations).toEqual({ seen: 1, required: 12 }));
    release();
    await untilSeen(one, 5);
  });
});

describe('the confirmations of a transfer that a reorg removed', () => {
  test('are not shown, and those of its new block are not counted by blocks scanned before', async () => {
    const { one, publish } = await checkingPayment();
    scannedTo(BLOCK + 9);
    await untilSeen(one, 10);
    // From here on chain-watcher does not answer, so the known tip is from before the reorganisation.
    payments.stubs.tips.before = () => new Promise(() => {});
    await publish({ phase: 'retracted', version: 2, confirmations: 0 });
    await eventually(async () =>
      expect(await view(one)).toMatchObject({ payment: { status: 'PENDING' }, confirmations: null }),
    );
    await publish({ ...firstSeen, version: 3, block_number: BLOCK + 2 });
    await untilSeen(one, 1);
    expect((await one.details()).transaction).toMatchObject({ confirmations: 1 });
  });
});

test('of several transfers that could pay, the confirmations of the matched one are shown', async () => {
  const { one } = await checkingPayment();
  const rival = await one.observe({ ...firstSeen, block_number: BLOCK - 6, confirmations: 7 });
  await eventually(async () =>
    expect((await one.details()).unmatched_transfers).toMatchObject([
      { transaction_id: rival.transaction_id, reason: 'duplicate' },
    ]),
  );
  expect((await view(one)).confirmations).toEqual({ seen: 1, required: 12 });
  scannedTo(BLOCK + 2);
  await untilSeen(one, 3);
});

test('a payment that is not CHECKING shows no confirmations, and one that is shows no more than are required', async () => {
  const waiting = await newPayment(payments);
  const paid = await newPayment(payments);
  await paid.observe({ ...firstSeen, phase: 'confirmed', confirmations: 12 });
  const cancelled = await newPayment(payments);
  await cancelled.cancel();
  const deep = await newPayment(payments);
  await deep.observe({ ...firstSeen, confirmations: 40 });
  await untilSeen(deep, 12);
  await eventually(async () => expect((await view(paid)).payment.status).toBe('PAID'));
  for (const one of [waiting, paid, cancelled]) expect((await view(one)).confirmations).toBeNull();
});

const publicFields = ['amount', 'currency', 'description', 'expires_at', 'merchant_wallet', 'network', 'status'];
