import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { TransferObserved } from '@quittance/contracts/messages.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { type PaymentsUnderTest, startPayments } from './service.ts';
import { countSent, newPayment, type PaymentPage, type TestPayment, transferFor, wholeSecond } from './fixtures.ts';

// Real processes are slow on a busy machine; no test here depends on the time.

let payments: PaymentsUnderTest;
beforeAll(async () => {
  payments = await startPayments({ replicas: 2 });
});
afterAll(() => payments.close());
afterEach(() => {
  payments.stubs.chain.scannedThrough = null;
  payments.stubs.chain.transfers = [];
  payments.stubs.chain.unknownWallets.clear();
  payments.stubs.chain.failingWallets.clear();
  payments.stubs.down.clear();
});

/** A payment that expired `minutes` ago, as far as the clock says. */
async function overduePayment(minutes: number): Promise<TestPayment> {
  const one = await newPayment(payments);
  await one.age(30 + minutes);
  return one;
}

const minutesAgo = (minutes: number): Date => new Date(Date.now() - minutes * 60_000);

/** Waits until chain-watcher was asked about the payment, and the answer was processed: until then the lease is longer. */
async function askedAgain(one: TestPayment): Promise<void> {
  await dueAgain(one);
  await eventually(async () => {
    const { rows } = await payments.db.query<{ postponed: boolean }>(
      `select expiry_check_at > now() and expiry_check_at < now() + interval '20 seconds' as postponed
         from payment where payment_id = $1 and status in ('PENDING', 'CHECKING')`,
      [one.payment.payment_id],
    );
    expect(rows[0]?.postponed ?? true).toBe(true);
  });
}

const dueAgain = (one: TestPayment) =>
  payments.db.query('update payment set expiry_check_at = created_at where payment_id = $1', [one.payment.payment_id]);

/** Waits until both replicas have asked how far the network is scanned, and have processed the answer. */
async function lookedAgain(): Promise<void> {
  const before = payments.stubs.asked['chain-watcher'];
  await eventually(() => expect(payments.stubs.asked['chain-watcher']).toBeGreaterThan(before + 4));
}

const statusOf = async (one: TestPayment): Promise<string> => (await one.details()).status;
const expires = (one: TestPayment) => eventually(async () => expect(await statusOf(one)).toBe('EXPIRED'));

describe('an overdue payment', () => {
  test('expires only when the chain is final and scanned past its expiry', async () => {
    const one = await overduePayment(10);
    await lookedAgain();
    expect(await statusOf(one)).toBe('PENDING');
    payments.stubs.chain.scannedThrough = minutesAgo(11);
    await lookedAgain();
    expect(await statusOf(one)).toBe('PENDING');
    payments.stubs.chain.scannedThrough = minutesAgo(9);
    await expires(one);
    await eventually(() =>
      expect(payments.received.closed.filter(({ payment_id: id }) => id === one.payment.payment_id)).toMatchObject([
        { status: 'EXPIRED', merchant_id: one.merchantId, network: 'local' },
      ]),
    );
    expect((await one.cancel()).status).toBe(409);
  });

  test('expires however many transfers of other amounts reached its wallet', async () => {
    const one = await overduePayment(1);
    const dust = { amount_units: '1', block_timestamp: wholeSecond(minutesAgo(20), 0) };
    payments.stubs.chain.transfers = Array.from({ length: 5000 }, () => transferFor(one.merchantId, one.payment, dust));
    payments.stubs.chain.scannedThrough = new Date();
    await expires(one);
  });

  test('is not claimed while the chain is not scanned so far, however many there are', async () => {
    const one = await overduePayment(10);
    const due = 'select expiry_check_at, xmin::text from payment where payment_id = $1';
    const before = await payments.db.query(due, [one.payment.payment_id]);
    payments.stubs.chain.scannedThrough = minutesAgo(11);
    await lookedAgain();
    expect((await payments.db.query(due, [one.payment.payment_id])).rows).toEqual(before.rows);
    payments.stubs.chain.scannedThrough = minutesAgo(0);
    await expires(one);
  });

  test('waits while chain-watcher cannot be asked', async () => {
    payments.stubs.down.add('chain-watcher');
    payments.stubs.chain.scannedThrough = minutesAgo(0);
    const one = await overduePayment(10);
    const before = payments.stubs.asked['chain-watcher'];
    await eventually(() => expect(payments.stubs.asked['chain-watcher']).toBeGreaterThan(before));
    expect(await statusOf(one)).toBe('PENDING');
    payments.stubs.down.clear();
    await expires(one);
  });

  test('is paid by a transfer whose message was lost', async () => {
    const one = await overduePayment(10);
    payments.stubs.chain.transfers = [
      transferFor(one.merchantId, one.payment, { phase: 'confirmed', block_timestamp: wholeSecond(minutesAgo(20), 0) }),
    ];
    payments.stubs.chain.scannedThrough = minutesAgo(0);
    await eventually(async () => expect(await statusOf(one)).toBe('PAID'));
    await eventually(() =>
      expect(payments.received.paid.filter(({ payment_id: id }) => id === one.payment.payment_id)).toHaveLength(1),
    );
  });

  test('is paid when only the message that confirmed its transfer was lost', async () => {
    const one = await newPayment(payments);
    const seen = await one.observe();
    await eventually(async () => expect(await statusOf(one)).toBe('CHECKING'));
    payments.stubs.chain.transfers = [seen];
    payments.stubs.chain.scannedThrough = minutesAgo(0);
    await one.age(40);
    // Seen is not enough, even when it is certain that no other money came.
    payments.stubs.chain.transfers = [{ ...seen, block_timestamp: wholeSecond(minutesAgo(39), 0) }];
    await askedAgain(one);
    expect(await statusOf(one)).toBe('CHECKING');
    payments.stubs.chain.transfers = [
      { ...seen, phase: 'confirmed', version: 2, block_timestamp: wholeSecond(minutesAgo(39), 0) },
    ];
    await dueAgain(one);
    await eventually(async () => expect(await statusOf(one)).toBe('PAID'));
  });

  test('does not expire by an answer older than the ledger’s version of its transfer', async () => {
    const one = await overduePayment(10);
    const seen = transferFor(one.merchantId, one.payment, { block_timestamp: wholeSecond(minutesAgo(20), 0) });
    await payments.publish(TransferObserved, { ...seen, phase: 'retracted', version: 2 });
    await eventually(async () => {
      const { rows } = await payments.db.query('select from transfer where transaction_id = $1', [seen.transaction_id]);
      expect(rows).toHaveLength(1);
    });
    payments.stubs.chain.transfers = [seen];
    payments.stubs.chain.scannedThrough = minutesAgo(0);
    await askedAgain(one);
    expect(await statusOf(one)).toBe('PENDING');
    payments.stubs.chain.transfers = [];
    await askedAgain(one);
    await expires(one);
  });

  test('is still paid, once confirmed, by a transfer that came in time and was noticed after the expiry', async () => {
    payments.stubs.chain.scannedThrough = minutesAgo(0);
    const one = await overduePayment(10);
    await expires(one);
    const seen = await one.observe({ block_timestamp: wholeSecond(minutesAgo(20), 0) });
    await eventually(async () => {
      const { rows } = await payments.db.query('select from transfer where transaction_id = $1', [seen.transaction_id]);
      expect(rows).toHaveLength(1);
    });
    expect(await one.details()).toMatchObject({ status: 'EXPIRED', transaction: null, unmatched_transfers: [] });
    await payments.publish(TransferObserved, { ...seen, phase: 'confirmed', version: 2 });
    await eventually(async () => expect(await statusOf(one)).toBe('PAID'));
    // It was announced as closed when it expired.
    expect(await countSent(payments, one)).toEqual({ PaymentCreated: 1, PaymentClosed: 1, PaymentPaid: 1 });
    for (const received of [payments.received.paid, payments.received.closed]) {
      await eventually(() =>
        expect(received.filter(({ payment_id: id }) => id === one.payment.payment_id)).toHaveLength(1),
      );
    }
  });

  test('on a wallet that chain-watcher does not know waits, and blocks no other', async () => {
    const all = await Promise.all(Array.from({ length: 9 }, () => newPayment(payments)));
    const stuck = all[4]!;
    payments.stubs.chain.unknownWallets.add(stuck.payment.merchant_wallet);
    payments.stubs.chain.scannedThrough = minutesAgo(0);
    await Promise.all(all.map((one) => one.age(40)));
    await Promise.all(all.filter((one) => one !== stuck).map(expires));
    expect(await statusOf(stuck)).toBe('PENDING');
    payments.stubs.chain.unknownWallets.clear();
    await askedAgain(stuck);
    await expires(stuck);
  });

  test('about which every question fails pauses alone, longer each time, and the others expire', async () => {
    const all = await Promise.all(Array.from({ length: 21 }, () => newPayment(payments)));
    const stuck = all[7]!;
    payments.stubs.chain.failingWallets.add(stuck.payment.merchant_wallet);
    payments.stubs.chain.scannedThrough = minutesAgo(0);
    await Promise.all(all.map((one) => one.age(40)));
    await Promise.all(all.filter((one) => one !== stuck).map(expires));
    await eventually(async () => {
      const { rows } = await payments.db.query(
        `select expiry_failures >= 2 as failed_twice, expiry_check_at > now() + interval '1 second' as pauses
           from payment where payment_id = $1`,
        [stuck.payment.payment_id],
      );
      expect(rows).toEqual([{ failed_twice: true, pauses: true }]);
    });
    expect(await statusOf(stuck)).toBe('PENDING');
    payments.stubs.chain.failingWallets.clear();
    await askedAgain(stuck);
    await expires(stuck);
  });

  test('is settled by transfers on several pages of the answer', async () => {
    const [paid, other] = [await overduePayment(10), await overduePayment(10)];
    const early = { block_timestamp: wholeSecond(minutesAgo(20), 0) };
    payments.stubs.chain.transfers = [
      ...Array.from({ length: 600 }, () => transferFor(other.merchantId, other.payment, { ...early, phase: 'seen' })),
      transferFor(paid.merchantId, paid.payment, { ...early, phase: 'confirmed' }),
    ];
    payments.stubs.chain.scannedThrough = minutesAgo(0);
    await eventually(async () => expect(await statusOf(paid)).toBe('PAID'));
    await eventually(async () => expect(await statusOf(other)).toBe('CHECKING'));
  });

  test('is one of more than a hundred that all expire, each with one PaymentClosed, with two replicas at work', async () => {
    const first = await newPayment(payments);
    const all = [first];
    // One merchant's creations wait for each other: more at once would only wait longer.
    while (all.length < 130) {
      const amounts = Array.from({ length: 10 }, (_, position) => String(20 + all.length + position));
      const wallet = first.payment.merchant_wallet;
      all.push(
        ...(await Promise.all(amounts.map((amount) => newPayment(payments, { amount, wallet }, first.merchantId)))),
      );
    }
    payments.stubs.chain.scannedThrough = minutesAgo(0);
    await Promise.all(all.map((one) => one.age(40)));
    const ids = new Set(all.map(({ payment }) => payment.payment_id));
    await eventually(async () => {
      const { json } = await payments.call<PaymentPage>(
        'GET',
        `/merchants/${first.merchantId}/payments?status=PENDING&limit=100`,
      );
      expect(json.payments).toEqual([]);
    });
    // One merchant's messages are received two at a time.
    await eventually(() =>
      expect(payments.received.closed.filter(({ payment_id: id }) => ids.has(id))).toHaveLength(all.length),
    );
  });
});
