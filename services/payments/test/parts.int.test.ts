import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TransferObserved } from '@quittance/contracts/messages.ts';
import { sha256 } from '@quittance/contracts/ids.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import {
  acceptAs,
  confirmed,
  countPaidMessages,
  incidents,
  messagesAbout,
  observeAgain,
  untilDetails,
  untilRecorded,
} from './acceptance-fixtures.ts';
import { create, newMerchant, newPayment, newWallet, type TestPayment, transferFor, wholeSecond } from './fixtures.ts';
import { type PaymentsUnderTest, startPayments } from './service.ts';

let payments: PaymentsUnderTest;
beforeAll(async () => {
  payments = await startPayments({ replicas: 2 });
});
afterAll(() => payments.close());

/** A payment of 10 that has its address for itself. */
const alone = (options: { accept_from_percent?: number; expires_in?: number } = {}) =>
  newPayment(payments, { amount: '10', options: { dedicated_wallet: true, ...options } });

let height = 1_000;
/** A transfer to the payment's address, each in a later block. @param amount in USDT. */
async function send(one: TestPayment, amount: number, change: Partial<TransferObserved> = {}) {
  height += 1;
  const transfer = await one.observe({ amount_units: String(amount * 1e6), block_number: height, ...change });
  await untilRecorded(payments, transfer);
  return transfer;
}
const arrive = (one: TestPayment, amount: number, change: Partial<TransferObserved> = {}) =>
  send(one, amount, { ...confirmed, ...change });
const idOf = ({ transaction_id, transaction_event_index }: TransferObserved) => ({
  transaction_id,
  transaction_event_index,
});

describe('a payment with an address of its own', () => {
  test('says so, and gets money in parts: the one that completes the amount pays it, once, and the event has them all', async () => {
    const one = await alone();
    expect(one.payment).toMatchObject({ dedicated: true, received_amount: '0', derivation_index: null });
    const [first, second] = [await arrive(one, 3), await arrive(one, 2.5)];
    await untilDetails(one, { status: 'PENDING', received_amount: '5.5', unmatched_transfers: [] });
    const third = await arrive(one, 4.5);
    const details = await untilDetails(one, {
      status: 'PAID',
      received_amount: '10',
      transaction: { ...idOf(third), amount: '4.5', accepted: false },
      unmatched_transfers: [],
    });
    expect(details.transfers.map(({ amount, counts, confirmed: done }) => [amount, counts, done])).toEqual([
      ['3', true, true],
      ['2.5', true, true],
      ['4.5', true, true],
    ]);
    expect(await countPaidMessages(payments, one)).toBe(1);
    expect(messagesAbout(payments, one).paid).toMatchObject([
      {
        ...idOf(third),
        expected_amount: '10',
        received_amount: '10',
        transfers: [
          { ...idOf(first), amount: '3' },
          { ...idOf(second), amount: '2.5' },
          { ...idOf(third), amount: '4.5' },
        ],
      },
    ]);
    await eventually(() =>
      expect(messagesAbout(payments, one).closed).toMatchObject([{ status: 'PAID', rest_seconds: 86_400 }]),
    );
  });

  test('is CHECKING when the parts that are seen suffice, and waits again when one of them is retracted', async () => {
    const one = await alone();
    await arrive(one, 6);
    const seen = await send(one, 4);
    await untilDetails(one, { status: 'CHECKING', received_amount: '6', transaction: idOf(seen) });
    await observeAgain(payments, seen, { phase: 'retracted', version: 2 });
    await untilDetails(one, { status: 'PENDING', received_amount: '6', transaction: null });
    await observeAgain(payments, seen, { phase: 'confirmed', version: 3, block_number: seen.block_number + 1 });
    await untilDetails(one, { status: 'PAID', received_amount: '10', transaction: idOf(seen) });
    expect(await countPaidMessages(payments, one)).toBe(1);
  });

  test('is CHECKING by other parts when the one that completed the sum is retracted', async () => {
    const one = await alone();
    const parts = [await send(one, 6), await send(one, 4), await send(one, 5)];
    await untilDetails(one, { status: 'CHECKING', transaction: idOf(parts[1]!) });
    await observeAgain(payments, parts[1]!, { phase: 'retracted', version: 2 });
    await untilDetails(one, { status: 'CHECKING', transaction: idOf(parts[2]!) });
    for (const part of [parts[0]!, parts[2]!]) await observeAgain(payments, part, confirmed);
    await untilDetails(one, { status: 'PAID', received_amount: '11', transaction: idOf(parts[2]!) });
  });

  test('is PAID from accept_from_percent of the amount on, and not below', async () => {
    const one = await alone({ accept_from_percent: 90 });
    expect(one.payment).toMatchObject({ accept_from_percent: 90 });
    await arrive(one, 8.999999);
    await untilDetails(one, { status: 'PENDING', received_amount: '8.999999' });
    await arrive(one, 0.000001);
    await untilDetails(one, { status: 'PAID', received_amount: '9' });
  });

  test('takes more than its amount, and lists what comes after it was paid', async () => {
    const one = await alone();
    await arrive(one, 12);
    await untilDetails(one, { status: 'PAID', received_amount: '12', unmatched_transfers: [] });
    const [again, more] = [await arrive(one, 10), await arrive(one, 1)];
    const details = await untilDetails(one, { status: 'PAID', received_amount: '23' });
    expect(details.unmatched_transfers.map(({ transaction_id: id, reason }) => [id, reason]).toSorted()).toEqual(
      [
        [again.transaction_id, 'duplicate'],
        [more.transaction_id, 'overpaid'],
      ].toSorted(),
    );
    expect(details.transfers.map(({ amount, counts }) => [amount, counts])).toEqual([
      ['12', true],
      ['10', false],
      ['1', false],
    ]);
    expect(await countPaidMessages(payments, one)).toBe(1);
    expect(messagesAbout(payments, one).paid).toMatchObject([{ received_amount: '12' }]);
  });

  test('counts a part once, however often and in whatever order its messages come', async () => {
    const one = await alone();
    const part = await send(one, 5);
    for (const version of [3, 2, 3]) await payments.publish(TransferObserved, { ...part, ...confirmed, version });
    await untilRecorded(payments, { ...part, version: 3 });
    const rest = await arrive(one, 5);
    await untilDetails(one, { status: 'PAID', received_amount: '10', transaction: idOf(rest) });
    // Each part is observed again after the payment is PAID.
    for (const again of [part, rest]) await observeAgain(payments, again, { ...confirmed, version: 9 });
    await untilDetails(one, { status: 'PAID', received_amount: '10', unmatched_transfers: [] });
    expect(await countPaidMessages(payments, one)).toBe(1);
    expect(await incidents(payments, one)).toEqual([]);
  });

  test('stays PAID when a part is gone from the chain, and there is an incident', async () => {
    const one = await alone();
    const [part] = [await arrive(one, 5), await arrive(one, 5)];
    await untilDetails(one, { status: 'PAID' });
    await observeAgain(payments, part, { phase: 'retracted', version: 9 });
    await eventually(async () =>
      expect(await incidents(payments, one)).toMatchObject([{ transaction_id: part.transaction_id }]),
    );
    await untilDetails(one, { status: 'PAID' });
  });

  test('stays PAID when a part carries another amount, and there is an incident', async () => {
    const one = await alone();
    const [part, other] = [await arrive(one, 5), await arrive(one, 5)];
    await untilDetails(one, { status: 'PAID' });
    await observeAgain(payments, part, { ...confirmed, amount_units: '4999999', version: 9 });
    // The other one is in order.
    await observeAgain(payments, other, { ...confirmed, version: 9 });
    expect(await incidents(payments, one)).toMatchObject([{ transaction_id: part.transaction_id }]);
    await untilDetails(one, { status: 'PAID', received_amount: '9.999999' });
  });

  test('gets a transfer that was about to pay a payment on another wallet, which then waits again', async () => {
    const [one, shared] = [await alone(), await newPayment(payments, { amount: '10' })];
    const transfer = await send(shared, 10);
    await untilDetails(shared, { status: 'CHECKING' });
    await observeAgain(payments, transfer, { ...confirmed, to: one.payment.merchant_wallet, version: 9 });
    await untilDetails(one, { status: 'PAID', transaction: idOf(transfer) });
    await untilDetails(shared, { status: 'PENDING', transaction: null });
    const next = await arrive(shared, 10);
    await untilDetails(shared, { status: 'PAID', transaction: idOf(next) });
  });

  test('loses a part that a reorganisation has moved to another wallet', async () => {
    const one = await alone();
    const part = await arrive(one, 5);
    await observeAgain(payments, part, { to: newWallet(), version: 9 });
    await untilDetails(one, { received_amount: '0', transfers: [] });
    await arrive(one, 5);
    await untilDetails(one, { status: 'PENDING', received_amount: '5' });
  });
});

describe('a payment with an address of its own that ends with a part', () => {
  /** One that waits, for a while already, and a time in its window. */
  async function waiting() {
    const one = await alone();
    await one.age(25);
    return { one, inTime: { block_timestamp: wholeSecond(one.payment.created_at, -20 * 60) } };
  }

  async function expireNow(one: TestPayment): Promise<void> {
    await one.age(10);
    payments.stubs.chain.scannedThrough = new Date();
    await untilDetails(one, { status: 'EXPIRED' });
  }

  const endings: [string, (one: TestPayment) => Promise<unknown>][] = [
    ['EXPIRED', expireNow],
    ['CANCELLED', (one) => one.cancel()],
  ];

  test.each(endings)(
    'is %s, lists it as underpaid, and becomes PAID by the rest that came in time',
    async (status, end) => {
      const { one, inTime } = await waiting();
      const part = await arrive(one, 6, inTime);
      await end(one);
      await untilDetails(one, {
        status,
        received_amount: '6',
        unmatched_transfers: [{ ...idOf(part), reason: 'underpaid', candidate_count: 1 }],
      });
      const rest = await arrive(one, 4, inTime);
      await untilDetails(one, {
        status: 'PAID',
        received_amount: '10',
        transaction: { ...idOf(rest), accepted: false },
        unmatched_transfers: [],
      });
      expect(await countPaidMessages(payments, one)).toBe(1);
    },
  );

  test('lists a part that is not confirmed when others pay it', async () => {
    const { one, inTime } = await waiting();
    await arrive(one, 6, inTime);
    const seen = await send(one, 1, inTime);
    await one.cancel();
    await untilDetails(one, { unmatched_transfers: [{ reason: 'underpaid' }, { reason: 'underpaid' }] });
    await arrive(one, 4, inTime);
    await untilDetails(one, { status: 'PAID', unmatched_transfers: [{ ...idOf(seen), reason: 'overpaid' }] });
  });

  test('does not count what the address sent to itself, whatever else chain-watcher finds', async () => {
    const { one, inTime } = await waiting();
    const found = { ...confirmed, ...inTime };
    payments.stubs.chain.transfers = [
      transferFor(one.merchantId, one.payment, { ...found, from: one.payment.merchant_wallet }),
      transferFor(one.merchantId, one.payment, { ...found, amount_units: '1000000' }),
    ];
    await expireNow(one);
    await untilDetails(one, { status: 'EXPIRED', received_amount: '1', transfers: [{ amount: '1' }] });
    payments.stubs.chain.transfers = [];
  });

  test('is accepted by its merchant with everything that has arrived, also after its time', async () => {
    const { one, inTime } = await waiting();
    await arrive(one, 6, inTime);
    await expireNow(one);
    const { expires_at: end } = await one.details();
    const late = { block_timestamp: wholeSecond(end, 60) };
    const [second, third] = [await arrive(one, 2, late), await arrive(one, 1.5, late)];
    const details = await untilDetails(one, { status: 'EXPIRED', received_amount: '9.5' });
    expect(details.unmatched_transfers.map(({ reason }) => reason).toSorted()).toEqual(['late', 'late', 'underpaid']);
    expect(details.transfers.map(({ counts }) => counts)).toEqual([true, false, false]);

    const answer = await acceptAs(payments, one.merchantId, { one, transfer: third });
    expect(answer).toMatchObject({
      status: 200,
      json: { status: 'PAID', received_amount: '9.5', transaction: { ...idOf(third), accepted: true } },
    });
    const again = await acceptAs(payments, one.merchantId, { one, transfer: third });
    expect([again.status, again.text]).toEqual([200, answer.text]);
    await untilDetails(one, {
      unmatched_transfers: [],
      transfers: [{ counts: true }, { counts: true }, { counts: true }],
    });
    expect(await countPaidMessages(payments, one)).toBe(1);
    expect(messagesAbout(payments, one).paid).toMatchObject([
      { ...idOf(third), accepted: true, received_amount: '9.5', transfers: [{}, idOf(second), idOf(third)] },
    ]);
  });

  test('does not count what only an acceptance found, until its message comes', async () => {
    const { one, inTime } = await waiting();
    const found = transferFor(one.merchantId, one.payment, { ...confirmed, ...inTime, amount_units: '2000000' });
    expect((await acceptAs(payments, one.merchantId, { one, transfer: found })).status).toBe(409);
    await arrive(one, 8, inTime);
    await untilDetails(one, { status: 'PENDING', received_amount: '10' });
    await arrive(one, 3, inTime);
    await untilDetails(one, { status: 'PAID', unmatched_transfers: [{ ...idOf(found), reason: 'overpaid' }] });
    await eventually(() =>
      expect(messagesAbout(payments, one).paid).toMatchObject([{ received_amount: '11', transfers: [{}, {}] }]),
    );
  });

  test('is not accepted by its merchant below the least part of the amount', async () => {
    const { one, inTime } = await waiting();
    const [part] = [await arrive(one, 6, inTime), await arrive(one, 2.9, inTime)];
    await one.cancel();
    const answer = await acceptAs(payments, one.merchantId, { one, transfer: part });
    expect(answer).toMatchObject({
      status: 409,
      json: { code: 'transfer_not_acceptable', detail: expect.stringMatching(/carry 8.9 USDT, less than 90 %/) },
    });
    await untilDetails(one, { status: 'CANCELLED' });
  });
});

describe('other payments on an address that one payment has for itself', () => {
  const on = (wallet: string, merchant: string, options: object = {}, amount = '10') =>
    create(payments, merchant, { wallet, amount, options });

  test('are refused while it is unfinished, and while it rests', async () => {
    const one = await alone();
    const wallet = one.payment.merchant_wallet;
    const refused = async () =>
      expect([
        (await on(wallet, one.merchantId, {}, '7')).json,
        (await on(wallet, one.merchantId)).json,
        (await on(wallet, one.merchantId, { unique_amount: true })).json,
        (await on(wallet, one.merchantId, { dedicated_wallet: true }, '8')).json,
      ]).toMatchObject([
        { code: 'wallet_dedicated' },
        { code: 'wallet_dedicated' },
        { code: 'wallet_dedicated' },
        { code: 'wallet_in_use' },
      ]);
    await refused();
    await one.cancel();
    await refused();
    await payments.db.query('update payment set rest_seconds = 0 where payment_id = $1', [one.payment.payment_id]);
    expect((await on(wallet, one.merchantId, { dedicated_wallet: true }, '8')).status).toBe(201);
  });

  test('keep it from being given to one payment until 30 days after they ended', async () => {
    const shared = await newPayment(payments);
    const { merchant_wallet: wallet } = shared.payment;
    const ask = async () => (await on(wallet, shared.merchantId, { dedicated_wallet: true })).json;
    expect(await ask()).toMatchObject({ code: 'wallet_in_use' });
    await shared.cancel();
    expect(await ask()).toMatchObject({ code: 'wallet_in_use' });
    const ended = (days: number) =>
      payments.db.query(
        `update payment set created_at = now() - $2 * interval '1 day' - interval '1 hour', expires_at = now() - $2 * interval '1 day',
                cancelled_at = now() - $2 * interval '1 day' where payment_id = $1`,
        [shared.payment.payment_id, days],
      );
    await ended(29.9);
    expect(await ask()).toMatchObject({ code: 'wallet_in_use' });
    await ended(30.1);
    expect(await ask()).toMatchObject({ dedicated: true });
  });

  test('keep it from being given to one payment while they are unfinished, however long they are overdue', async () => {
    payments.stubs.chain.scannedThrough = null;
    const shared = await newPayment(payments);
    await shared.age(40 * 24 * 60);
    const { json } = await on(shared.payment.merchant_wallet, shared.merchantId, { dedicated_wallet: true }, '8');
    expect(json).toMatchObject({ code: 'wallet_in_use' });
  });

  test('are never created beside it, however many are requested at once', async () => {
    const merchant = await newMerchant(payments);
    const others = await Promise.all(Array.from({ length: 4 }, () => newMerchant(payments)));
    const wallet = newWallet();
    const asked = [merchant, ...others].flatMap((id, at) => [
      on(wallet, id, {}, `${at + 1}`),
      on(wallet, id, { dedicated_wallet: true }),
    ]);
    const created = (await Promise.all(asked)).filter(({ status }) => status === 201).map(({ json }) => json);
    expect(created.length).toBeGreaterThan(0);
    if (created.some(({ dedicated }) => dedicated)) expect(created).toHaveLength(1);
  });
});

test('the page shows what has arrived, confirmed or not, and what is missing', async () => {
  const one = await alone();
  const token = one.payment.payment_url.split('/').at(-1)!;
  const shown = async () => {
    const body = { tokens_sha256: [sha256(token).toString('hex')] };
    const answer = await payments.call<{ found: { received: object }[] }>('POST', '/public-payments', body);
    return answer.json.found[0]!.received;
  };
  expect(await shown()).toEqual({ amount: '0', missing: '10' });
  await arrive(one, 3.25);
  await send(one, 4);
  expect(await shown()).toEqual({ amount: '7.25', missing: '2.75' });
  await arrive(one, 6.75);
  await untilDetails(one, { status: 'PAID' });
  expect(await shown()).toEqual({ amount: '14', missing: '0' });
});
