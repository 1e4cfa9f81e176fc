import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { LookedUp } from '@quittance/contracts/http/chain-watcher/look-ups.ts';
import type { CheckoutHelp, FoundTransfers, LocatedTransfers } from '@quittance/contracts/http/payments/look-ups.ts';
import type { TransferObserved } from '@quittance/contracts/messages.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { accept, author, confirmed, expire, untilRecorded } from './acceptance-fixtures.ts';
import { newMerchant, newPayment, newWallet, type TestPayment, wholeSecond } from './fixtures.ts';
import { network, type PaymentsUnderTest, startPayments } from './service.ts';

let payments: PaymentsUnderTest;
beforeAll(async () => {
  payments = await startPayments();
});
afterAll(() => payments.close());

const newTransactionId = (): string => randomBytes(32).toString('hex');

/** What the merchant reads about a transaction. */
const find = async (merchantId: string, transactionId: string): Promise<FoundTransfers> =>
  (await payments.call<FoundTransfers>('GET', `/merchants/${merchantId}/transfers?transaction_id=${transactionId}`))
    .json;

const CLIENT = 'c1'.repeat(32);
const tokenHashOf = ({ payment }: Pick<TestPayment, 'payment'>): string =>
  createHash('sha256').update(payment.payment_url.split('/').at(-1)!).digest('hex');

/** What the checkout page reads in addition to the status. */
async function help({ payment }: Pick<TestPayment, 'payment'>, transactionId?: string): Promise<CheckoutHelp> {
  const question = transactionId !== undefined && { transaction_id: transactionId, client_sha256: CLIENT };
  const body = { token_sha256: tokenHashOf({ payment }), ...question };
  return (await payments.call<CheckoutHelp>('POST', '/checkout-help', body)).json;
}
const outcome = async (one: TestPayment, transactionId: string) => (await help(one, transactionId)).lookup?.outcome;

async function recorded(one: TestPayment, change: Partial<TransferObserved>): Promise<TransferObserved> {
  const transfer = await one.observe(change);
  await untilRecorded(payments, transfer);
  return transfer;
}

/** Sets what the chain shows of a transaction from now on. @returns its id. */
function onChain(lookedUp: LookedUp): string {
  const transactionId = newTransactionId();
  payments.stubs.lookUps.set(transactionId, lookedUp);
  return transactionId;
}

function mined(to: string, units: string, change: Partial<Extract<LookedUp, { outcome: 'mined' }>> = {}): LookedUp {
  const transfer = { transaction_event_index: 0, from: newWallet(), to, amount_units: units, decimals: 6 };
  return {
    outcome: 'mined',
    network,
    block_number: 7,
    block_timestamp: wholeSecond(new Date(), 1),
    is_scanned: false,
    is_final: false,
    transfers: [transfer],
    other_recipients: [],
    ...change,
  };
}

describe('a transaction that the ledger has', () => {
  test('pays a payment: the answer has everything known about the transfer, and no node is asked', async () => {
    const one = await newPayment(payments, { amount: '10' });
    const transfer = await recorded(one, { phase: 'seen', confirmations: 1 });
    const asked = payments.stubs.lookedUp.length;
    const found = await find(one.merchantId, `0x${transfer.transaction_id.toUpperCase()}`);
    expect(found).toEqual({
      transfers: [
        {
          network,
          transaction_id: transfer.transaction_id,
          transaction_event_index: 3,
          amount: '10',
          merchant_wallet: one.payment.merchant_wallet,
          sender: transfer.from,
          block_number: 1234,
          block_timestamp: transfer.block_timestamp,
          state: 'seen',
          waiting_for: 'confirmations',
          payment_id: one.payment.payment_id,
          reason: null,
          candidates: [],
          candidates_elsewhere: false,
        },
      ],
      explanation: expect.stringMatching(/^It pays pay_\w+ with 10 USDT once it is confirmed; .* confirmations\.$/),
      explanation_code: 'pays_payment',
    });
    expect(payments.stubs.lookedUp).toHaveLength(asked);
    await recorded(one, { ...transfer, ...confirmed });
    expect(await find(one.merchantId, transfer.transaction_id)).toMatchObject({
      transfers: [{ state: 'confirmed', waiting_for: null, payment_id: one.payment.payment_id }],
      explanation_code: 'pays_payment',
    });
  });

  test('pays nothing: the answer has the payment it was meant for and why, until it is accepted', async () => {
    const one = await newPayment(payments, { amount: '10' });
    const transfer = await recorded(one, { amount_units: '9500000', ...confirmed });
    expect(await find(one.merchantId, transfer.transaction_id)).toMatchObject({
      transfers: [
        {
          ...{ amount: '9.5', payment_id: one.payment.payment_id, reason: 'underpaid', state: 'confirmed' },
          candidates: [one.payment.payment_id],
        },
      ],
      explanation: expect.stringMatching(/less than the payment asks for/),
      explanation_code: 'unmatched',
    });
    await accept(payments, one, transfer, author);
    expect(await find(one.merchantId, transfer.transaction_id)).toMatchObject({ explanation_code: 'pays_payment' });
  });

  test('may be for several payments: none is named, and all are', async () => {
    const one = await newPayment(payments, { amount: '10' });
    const other = await newPayment(payments, { amount: '10.5', wallet: one.payment.merchant_wallet }, one.merchantId);
    const transfer = await recorded(one, {
      ...{ amount_units: '9800000', ...confirmed, block_timestamp: wholeSecond(new Date(), 1) },
    });
    const candidates = [one, other].map(({ payment }) => payment.payment_id);
    const found = {
      transfers: [{ payment_id: null, reason: 'underpaid', candidates, candidates_elsewhere: false }],
      explanation: expect.stringMatching(/may be for any of 2 payments/) as unknown as string,
      explanation_code: 'unmatched',
    };
    expect(await find(one.merchantId, transfer.transaction_id)).toMatchObject(found);
    const located = await payments.call<LocatedTransfers>('GET', `/transfers/${transfer.transaction_id}`);
    expect(located.json).toMatchObject(found);
  });

  test('was dropped by the chain: it is pending', async () => {
    const one = await newPayment(payments);
    const transfer = await recorded(one, {});
    await recorded(one, { ...transfer, phase: 'retracted', version: 2 });
    expect(await find(one.merchantId, transfer.transaction_id)).toMatchObject({
      transfers: [{ state: 'retracted', payment_id: null }],
      explanation_code: 'pending',
    });
  });

  test('concerns another merchant: it is looked up on chain like any, and the answer reveals nothing of the ledger', async () => {
    const one = await newPayment(payments, { amount: '10' });
    const transfer = await recorded(one, confirmed);
    const stranger = await newMerchant(payments);
    payments.stubs.lookUps.set(transfer.transaction_id, mined(one.payment.merchant_wallet, '10000000'));
    expect(await find(stranger, transfer.transaction_id)).toEqual({
      transfers: [],
      explanation: expect.not.stringContaining(one.payment.payment_id),
      explanation_code: 'not_your_wallet',
    });
    const located = await payments.call<LocatedTransfers>('GET', `/transfers/${transfer.transaction_id}`);
    expect(located.json).toMatchObject({
      transfers: [{ merchant_id: one.merchantId, payment_id: one.payment.payment_id }],
      explanation_code: 'pays_payment',
      chain: null,
    });
  });
});

describe('a transaction with more transfers to wallets here than one answer has room for', () => {
  /** A transaction that pays 201 wallets of other merchants before it pays this payment's. */
  async function payingOthersFirst(one: TestPayment): Promise<TransferObserved> {
    const [stranger, transactionId] = [await newMerchant(payments), newTransactionId()];
    const ofOthers = { ...confirmed, merchant_id: stranger, transaction_id: transactionId };
    const indices = Array.from({ length: 201 }, (_, index) => index);
    await Promise.all(
      indices.map((index) => one.observe({ ...ofOthers, to: newWallet(), transaction_event_index: index })),
    );
    const transfer = await one.observe({ ...confirmed, transaction_id: transactionId, transaction_event_index: 900 });
    await eventually(async () => {
      const { rows } = await payments.db.query('select from transfer where transaction_id = $1', [transactionId]);
      expect(rows).toHaveLength(202);
    });
    return transfer;
  }

  test('shows a merchant its own, and a customer theirs, however far back they come', async () => {
    const one = await newPayment(payments, { amount: '10' });
    const { transaction_id: id } = await payingOthersFirst(one);
    expect(await find(one.merchantId, id)).toMatchObject({
      transfers: [{ transaction_event_index: 900, payment_id: one.payment.payment_id }],
      explanation_code: 'pays_payment',
    });
    expect(await outcome(one, id)).toBe('pays_this_payment');
    const located = await payments.call<LocatedTransfers>('GET', `/transfers/${id}`);
    expect(located.json.transfers).toHaveLength(200);
  });
});

describe('a transaction that the ledger does not have', () => {
  test.each<[FoundTransfers['explanation_code'], (wallet: string) => LookedUp]>([
    ['unknown', () => ({ outcome: 'unknown' })],
    ['not_read_yet', () => ({ outcome: 'not_read_yet', reason: 'no_answer' })],
    ['not_read_yet', () => ({ outcome: 'not_read_yet', reason: 'budget' })],
    ['pending', () => ({ outcome: 'pending', network })],
    ['failed', () => ({ outcome: 'failed', network, block_timestamp: '2026-01-01T00:00:00.000Z' })],
    ['not_your_wallet', () => mined(newWallet(), '5')],
    ['other_token', (wallet) => mined(newWallet(), '5', { transfers: [], other_recipients: [wallet] })],
    ['not_read_yet', (wallet) => mined(wallet, '5')],
    ['unmatched', (wallet) => mined(wallet, '5', { is_scanned: true, is_final: true })],
  ])('is %s by what the chain shows', async (code, lookedUp) => {
    const one = await newPayment(payments);
    const transactionId = onChain(lookedUp(one.payment.merchant_wallet));
    expect(await find(one.merchantId, transactionId)).toEqual({
      transfers: [],
      explanation: expect.stringMatching(/\.$/),
      explanation_code: code,
    });
    // On the likeliest network first, and in the merchant's own budget.
    expect(payments.stubs.lookedUp.at(-1)).toEqual({
      transaction_id: transactionId,
      first: network,
      account: { merchant_id: one.merchantId, by: 'merchant' },
    });
    const located = await payments.call<LocatedTransfers>('GET', `/transfers/${transactionId}`);
    expect(located.json).toMatchObject({ explanation_code: code, chain: { outcome: expect.any(String) } });
    expect(payments.stubs.lookedUp.at(-1)).toEqual({ transaction_id: transactionId });
  });

  test('is not read yet while chain-watcher is away', async () => {
    const merchantId = await newMerchant(payments);
    payments.stubs.down.add('chain-watcher');
    try {
      expect(await find(merchantId, newTransactionId())).toMatchObject({ explanation_code: 'not_read_yet' });
    } finally {
      payments.stubs.down.delete('chain-watcher');
    }
  });

  test.each(['', '?transaction_id=12', `?transaction_id=${'g'.repeat(64)}`])(
    '%j is no valid question: 422',
    async (query) => {
      const answer = await payments.call('GET', `/merchants/${await newMerchant(payments)}/transfers${query}`);
      expect(answer).toMatchObject({ status: 422, json: { detail: [{ field: 'transaction_id' }] } });
    },
  );
});

describe('a customer who names a transaction', () => {
  test('learns of one in the ledger what it has to do with this payment', async () => {
    const one = await newPayment(payments, { amount: '10' });
    const other = await recorded(one, { amount_units: '9000000' });
    expect(await help(one, other.transaction_id)).toMatchObject({
      lookup: { outcome: 'other_amount', amount: '9', network: null, transaction_id: other.transaction_id },
    });
    const early = await recorded(one, {
      amount_units: '8000000',
      block_timestamp: wholeSecond(one.payment.created_at, -60),
    });
    expect(await outcome(one, early.transaction_id)).toBe('not_for_this_payment');
    const paying = await recorded(one, {});
    expect(await outcome(one, paying.transaction_id)).toBe('pays_this_payment');
    const twice = await recorded(one, {});
    expect(await outcome(one, twice.transaction_id)).toBe('not_for_this_payment');
    await recorded(one, { ...paying, phase: 'retracted', version: 2 });
    expect(await outcome(one, paying.transaction_id)).toBe('pending');
    // It has replaced the one that is gone.
    expect(await outcome(one, twice.transaction_id)).toBe('pays_this_payment');
  });

  test('learns that it came too late', async () => {
    const one = await newPayment(payments, { amount: '10' });
    await expire(payments, one);
    const late = await recorded(one, { block_timestamp: wholeSecond(new Date(), 0), ...confirmed });
    expect((await help(one, late.transaction_id)).lookup).toMatchObject({ outcome: 'too_late', amount: '10' });
  });

  test('learns nothing about other payments on the wallet: money that pays one of them has another amount, or is not for this one', async () => {
    const one = await newPayment(payments, { amount: '10' });
    const neighbour = await newPayment(payments, { amount: '12', wallet: one.payment.merchant_wallet }, one.merchantId);
    const transfer = await recorded(neighbour, confirmed);
    expect((await help(one, transfer.transaction_id)).lookup).toEqual({
      ...{ transaction_id: transfer.transaction_id, outcome: 'other_amount', amount: '12', network: null },
    });
  });

  test.each<[string, string | null, (one: TestPayment) => LookedUp]>([
    ['unknown', null, () => ({ outcome: 'unknown' })],
    ['not_read_yet', null, () => ({ outcome: 'not_read_yet', reason: 'budget' })],
    ['pending', null, () => ({ outcome: 'pending', network })],
    ['failed', null, () => ({ outcome: 'failed', network, block_timestamp: '2026-01-01T00:00:00.000Z' })],
    ['other_address', null, () => mined(newWallet(), '10000000')],
    ['pending', null, ({ payment }) => mined(payment.merchant_wallet, '10000000')],
    ['other_amount', '9.75', ({ payment }) => mined(payment.merchant_wallet, '9750000')],
    ['other_network', '10', ({ payment }) => mined(payment.merchant_wallet, '10000000', { network: 'polygon' })],
    [
      'other_token',
      null,
      ({ payment }) => mined(newWallet(), '1', { transfers: [], other_recipients: [payment.merchant_wallet] }),
    ],
    [
      'not_for_this_payment',
      null,
      ({ payment }) => mined(payment.merchant_wallet, '10000000', { block_timestamp: '2026-01-01T00:00:00.000Z' }),
    ],
  ])('learns from the chain: %s', async (expected, amount, lookedUp) => {
    const one = await newPayment(payments, { amount: '10' });
    const transactionId = onChain(lookedUp(one));
    expect((await help(one, transactionId)).lookup).toEqual({
      ...{ transaction_id: transactionId, outcome: expected, amount },
      network: expected === 'other_network' ? 'polygon' : null,
    });
    expect(payments.stubs.lookedUp.at(-1)).toEqual({
      transaction_id: transactionId,
      first: network,
      account: { merchant_id: one.merchantId, by: 'customer', link: tokenHashOf(one), client: CLIENT },
    });
  });
});

describe('money that arrived in another amount', () => {
  const neighbourOf = (one: TestPayment, amount: string) =>
    newPayment(payments, { amount, wallet: one.payment.merchant_wallet }, one.merchantId);

  test.each([
    ['5', '5000000'],
    ['9.5', '9500000'],
    ['20', '20000000'],
  ])('is shown while only this payment fits: %s of 10', async (amount, units) => {
    const one = await newPayment(payments, { amount: '10' });
    expect(await help(one)).toEqual({ arrived: null, lookup: null, warnings: [] });
    // It asks for so much more that the transfer cannot be for it.
    await neighbourOf(one, '1000');
    await recorded(one, { amount_units: units, block_timestamp: wholeSecond(one.payment.created_at, 2) });
    expect(await help(one)).toEqual({ arrived: { amount }, lookup: null, warnings: [] });
  });

  test.each(['4999999', '20000001'])('is not shown when it is less than half or more than twice: %s', async (units) => {
    const one = await newPayment(payments, { amount: '10' });
    await recorded(one, { amount_units: units });
    expect(await help(one)).toEqual({ arrived: null, lookup: null, warnings: [] });
  });

  test('is shown on every page whose payment it fits, until one of them is paid', async () => {
    const one = await newPayment(payments, { amount: '10' });
    const neighbour = await neighbourOf(one, '10.01');
    const blockTime = wholeSecond(neighbour.payment.created_at, 0);
    const transfer = await recorded(one, { amount_units: '9500000', block_timestamp: blockTime });
    const both = async () => [(await help(one)).arrived, (await help(neighbour)).arrived];
    expect(await both()).toEqual([{ amount: '9.5' }, { amount: '9.5' }]);
    await recorded(neighbour, confirmed);
    expect(await both()).toEqual([{ amount: '9.5' }, null]);
    await accept(payments, one, transfer, author);
    expect(await both()).toEqual([null, null]);
  });

  test('is the nearest of several, and dust is none', async () => {
    const one = await newPayment(payments, { amount: '10' });
    for (const units of ['6000000', '9800000', '19000000', '1']) await recorded(one, { amount_units: units });
    expect((await help(one)).arrived).toEqual({ amount: '9.8' });
  });

  test('is no longer shown once the payment is paid, nor when the chain has dropped it', async () => {
    const one = await newPayment(payments, { amount: '10' });
    const transfer = await recorded(one, { amount_units: '9500000' });
    expect((await help(one)).arrived).toEqual({ amount: '9.5' });
    await recorded(one, { ...transfer, phase: 'retracted', version: 2 });
    expect((await help(one)).arrived).toBeNull();
    await recorded(one, { ...transfer, ...confirmed, version: 3 });
    expect((await help(one)).arrived).toEqual({ amount: '9.5' });
    await accept(payments, one, transfer, author);
    expect((await help(one)).arrived).toBeNull();
  });
});
