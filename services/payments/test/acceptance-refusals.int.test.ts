import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TransferObserved } from '@quittance/contracts/messages.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import {
  accept,
  acceptances,
  countPaidMessages,
  author,
  confirmed,
  findingOf,
  untilDetails,
  messagesAbout,
  observeAgain,
  untilRecorded,
  underpaid,
} from './acceptance-fixtures.ts';
import { type PaymentsUnderTest, startPayments } from './service.ts';
import { newPayment, newWallet, type TestPayment, transferFor, wholeSecond } from './fixtures.ts';

// Real processes are slow on a busy machine; no test here depends on the time.
let payments: PaymentsUnderTest;
beforeAll(async () => {
  payments = await startPayments({ replicas: 2 });
});
afterAll(() => payments.close());

describe('the chain’s answer decides an acceptance', () => {
  const nothingChanged = async (one: TestPayment) => {
    expect(await one.details()).toMatchObject({ status: 'PENDING', unmatched_transfers: [{ reason: 'underpaid' }] });
    expect(await acceptances(payments, 'payment_id', one.payment.payment_id)).toEqual([]);
    expect(await countPaidMessages(payments, one)).toBe(0);
  };

  test.each([
    ['absent', 'no_receipt', /does not have this transaction/],
    ['absent', 'orphaned', /not in the chain any more/],
    ['absent', 'failed', /failed on chain/],
    ['absent', 'no_event', /no event at this position/],
    ['absent', 'no_transfer', /no transfer of USDT/],
    ['undecided', 'network_unknown', /does not follow this network/],
    ['undecided', 'network_halted', /has halted this network/],
  ])('%s: %s is 409 with a sentence', async (finding, reason, sentence) => {
    const { one, transfer } = await underpaid(payments);
    payments.stubs.findings.set(transfer.transaction_id, { finding, reason });
    const answer = await accept(payments, one, transfer);
    expect([answer.status, answer.json.detail]).toEqual([409, expect.stringMatching(sentence)]);
    await nothingChanged(one);
  });

  test.each<[string, object, RegExp]>([
    ['a transfer that is not final', { is_final: false, confirmations: 1 }, /not final yet: it has 1 confirmations/],
    ['another amount', { amount_units: '9500001' }, /amount_units 9500001 instead of 9500000/],
    ['other decimals', { decimals: 18 }, /decimals 18 instead of 6/],
    ['another block', { block_hash: `0x${'ab'.repeat(32)}` }, /block_hash/],
    ['another recipient', { to: newWallet() }, /recipient/],
    ['another sender', { from: newWallet() }, /sender/],
  ])('%s is 409 with what is different', async (_, change, sentence) => {
    const { one, transfer } = await underpaid(payments);
    payments.stubs.findings.set(transfer.transaction_id, findingOf(transfer, change));
    const answer = await accept(payments, one, transfer);
    expect([answer.status, answer.json.detail]).toEqual([409, expect.stringMatching(sentence)]);
    await nothingChanged(one);
    // The same acceptance goes through once the chain agrees.
    payments.stubs.findings.delete(transfer.transaction_id);
    expect((await accept(payments, one, transfer)).status).toBe(200);
  });

  test.each<[string, object]>([
    ['a finding nobody knows', { finding: 'maybe' }],
    ['a reason nobody knows', { finding: 'absent', reason: 'weather' }],
    ['half a finding', { finding: 'present', is_final: true }],
    ['a finality that is no boolean', { is_final: 'yes' }],
    ['an amount that is a number', { amount_units: 9500000 }],
  ])('%s is no answer: 503', async (_, change) => {
    const { one, transfer } = await underpaid(payments);
    payments.stubs.findings.set(transfer.transaction_id, 'finding' in change ? change : findingOf(transfer, change));
    const answer = await accept(payments, one, transfer, author, { once: true });
    expect([answer.status, answer.json.detail]).toEqual([503, 'Service temporarily unavailable']);
    await nothingChanged(one);
  });

  test('is missing: 503, and nothing has changed', async () => {
    const { one, transfer } = await underpaid(payments);
    payments.stubs.down.add('chain-watcher');
    try {
      expect((await accept(payments, one, transfer, author, { once: true })).status).toBe(503);
    } finally {
      payments.stubs.down.delete('chain-watcher');
    }
    await nothingChanged(one);
    expect((await accept(payments, one, transfer)).status).toBe(200);
  });

  /** The finding is correct when chain-watcher gives it; then this happens before payments has locked anything. */
  const meanwhile = (transfer: TransferObserved, happens: () => Promise<unknown>) =>
    payments.stubs.findings.set(transfer.transaction_id, async () => {
      await happens();
      return findingOf(transfer);
    });

  test('a transfer that is retracted while the chain is asked is refused', async () => {
    const { one, transfer } = await underpaid(payments);
    meanwhile(transfer, () => observeAgain(payments, transfer, { phase: 'retracted', version: 2 }));
    const answer = await accept(payments, one, transfer);
    expect([answer.status, answer.json.detail]).toEqual([409, 'This transfer is gone from the chain']);
    expect(await countPaidMessages(payments, one)).toBe(0);
  });

  test('a transfer that moves to another block while the chain is asked is refused', async () => {
    const { one, transfer } = await underpaid(payments);
    meanwhile(transfer, () => observeAgain(payments, transfer, { block_hash: `0x${'cd'.repeat(32)}`, version: 3 }));
    const answer = await accept(payments, one, transfer);
    expect([answer.status, answer.json.detail]).toEqual([409, expect.stringMatching(/block_hash/)]);
    await nothingChanged(one);
  });

  test('a payment that is paid while the chain is asked stays paid by that', async () => {
    const { one, transfer } = await underpaid(payments);
    meanwhile(transfer, async () => {
      await one.observe(confirmed);
      await untilDetails(one, { status: 'PAID' });
    });
    const answer = await accept(payments, one, transfer);
    expect([answer.status, answer.json.detail]).toEqual([409, expect.stringMatching(/is PAID already/)]);
    expect(await countPaidMessages(payments, one)).toBe(1);
    expect(await acceptances(payments, 'payment_id', one.payment.payment_id)).toEqual([]);
  });

  test('a payment that is cancelled while the chain is asked is paid as a cancelled one', async () => {
    const { one, transfer } = await underpaid(payments);
    meanwhile(transfer, () => one.cancel());
    expect((await accept(payments, one, transfer)).json).toMatchObject({ status_before: 'CANCELLED' });
    expect(await countPaidMessages(payments, one)).toBe(1);
    await eventually(() => expect(messagesAbout(payments, one).closed).toMatchObject([{ status: 'CANCELLED' }]));
  });
});

describe('a transfer that the ledger does not have', () => {
  test.each([
    ['no_receipt', /does not have this transaction/],
    ['no_event', /no event at this position/],
  ])('and the chain neither (%s) is 409 with a sentence, and nothing is written', async (reason, sentence) => {
    const one = await newPayment(payments, { amount: '10' });
    const unknown = transferFor(one.merchantId, one.payment);
    payments.stubs.findings.set(unknown.transaction_id, { finding: 'absent', reason });
    const answer = await accept(payments, one, unknown);
    expect([answer.status, answer.json.detail]).toEqual([409, expect.stringMatching(sentence)]);
    const { rows } = await payments.db.query('select from transfer where transaction_id = $1', [
      unknown.transaction_id,
    ]);
    expect(rows).toEqual([]);
  });

  test('is looked up on the payment’s network, whatever the ledger has on another one', async () => {
    const one = await newPayment(payments, { amount: '10' });
    const elsewhere = await one.observe({ network: 'elsewhere', amount_units: '9500000' });
    await untilRecorded(payments, elsewhere);
    payments.stubs.findings.set(elsewhere.transaction_id, { finding: 'absent', reason: 'no_receipt' });
    expect((await accept(payments, one, elsewhere)).status).toBe(409);
    expect(payments.stubs.verified).toContainEqual({
      network: 'local',
      transaction_id: elsewhere.transaction_id,
      transaction_event_index: 3,
    });
  });

  test('but the chain has, to another wallet or not final yet, is 409 and nothing is written', async () => {
    const one = await newPayment(payments, { amount: '10' });
    for (const [change, sentence] of [
      [{ to: newWallet() }, /another wallet/],
      [{ is_final: false }, /not final yet/],
    ] as const) {
      const unknown = transferFor(one.merchantId, one.payment, { amount_units: '9500000' });
      payments.stubs.findings.set(unknown.transaction_id, findingOf(unknown, change));
      const answer = await accept(payments, one, unknown);
      expect([answer.status, answer.json.detail]).toEqual([409, expect.stringMatching(sentence)]);
      expect(
        (await payments.db.query('select from transfer where transaction_id = $1', [unknown.transaction_id])).rowCount,
      ).toBe(0);
    }
    expect(await one.details()).toMatchObject({ status: 'PENDING', unmatched_transfers: [] });
  });
});

describe('what cannot be accepted is refused without asking the chain', () => {
  const refused = async (one: TestPayment, transfer: TransferObserved, status: number, sentence: RegExp) => {
    const answer = await accept(payments, one, transfer);
    expect([answer.status, answer.json.detail]).toEqual([status, expect.stringMatching(sentence)]);
    const asked = payments.stubs.verified as { transaction_id: string }[];
    expect(asked.some(({ transaction_id: id }) => id === transfer.transaction_id)).toBe(false);
    expect(await acceptances(payments, 'transaction_id', transfer.transaction_id)).toEqual([]);
  };

  test('an unknown payment', async () => {
    const { one, transfer } = await underpaid(payments);
    const nobody = { ...one, payment: { ...one.payment, payment_id: `pay_${'0'.repeat(32)}` } };
    await refused(nobody, transfer, 404, /^Payment not found$/);
  });

  test('a payment that is PAID, with the transfer that paid it', async () => {
    const { one, transfer } = await underpaid(payments);
    const paying = await one.observe(confirmed);
    await untilDetails(one, { status: 'PAID' });
    await refused(one, transfer, 409, /is PAID already/);
    await refused(one, paying, 409, /pays pay_\w+ by itself/);
  });

  test('a payment that is CHECKING, with the transfer that is about to pay it', async () => {
    const { one, transfer } = await underpaid(payments);
    const paying = await one.observe();
    await untilDetails(one, { status: 'CHECKING' });
    await refused(one, transfer, 409, /is CHECKING: another transfer/);
    await refused(one, paying, 409, /by itself/);
    const other = await newPayment(payments, { amount: '11', wallet: one.payment.merchant_wallet }, one.merchantId);
    await refused(other, paying, 409, /pays another payment/);
  });

  test('a transfer that is gone from the chain', async () => {
    const { one, transfer } = await underpaid(payments);
    await observeAgain(payments, transfer, { phase: 'retracted', version: 2 });
    await refused(one, transfer, 409, /gone from the chain/);
  });

  test('a transfer to another wallet, of the same merchant or of another one', async () => {
    const { one, transfer } = await underpaid(payments);
    const other = await newPayment(payments, { amount: '10' }, one.merchantId);
    await refused(other, transfer, 409, /another wallet/);
    const foreign = await newPayment(payments, { amount: '10' });
    await refused(foreign, transfer, 409, /another wallet/);
  });

  test('a transfer that came before any payment on a wallet which belonged to another merchant then', async () => {
    const elsewhere = await newPayment(payments, { amount: '10' });
    const wallet = newWallet();
    const transfer = await elsewhere.observe({ to: wallet, amount_units: '9500000' });
    expect(await untilRecorded(payments, transfer)).toMatchObject({ related_payment_id: null });
    const one = await newPayment(payments, { amount: '10', wallet });
    await refused(one, transfer, 409, /belonged to another merchant/);
  });

  test('a transfer nearest to a payment of the merchant who owned the wallet before its release', async () => {
    const one = await newPayment(payments, { amount: '10' });
    const { merchant_wallet: wallet } = one.payment;
    await payments.call('POST', `/wallets/${wallet}/release`, author);
    const other = await newPayment(payments, { amount: '20', wallet });
    const transfer = await one.observe({
      ...{ amount_units: '9500000', merchant_id: other.merchantId },
      block_timestamp: wholeSecond(other.payment.created_at, 1),
    });
    await untilRecorded(payments, transfer);
    await refused(other, transfer, 409, /may be for payments of another merchant: pay_\w+$/);
    expect((await accept(payments, one, transfer)).status).toBe(200);
  });

  test('a transfer that came in time for another payment and is about to pay that', async () => {
    const one = await newPayment(payments, { amount: '5' });
    await one.age(5);
    await one.cancel();
    const transfer = await one.observe({ block_timestamp: wholeSecond(new Date(), -60) });
    expect(await untilRecorded(payments, transfer)).toMatchObject({
      related_payment_id: one.payment.payment_id,
      reason: null,
    });
    const { merchant_wallet: wallet } = one.payment;
    const again = await newPayment(payments, { amount: '5', wallet }, one.merchantId);
    await refused(again, transfer, 409, /came in time for another payment, pay_\w+, and pays it once it is confirmed/);
    const other = await newPayment(payments, { amount: '5.1', wallet }, one.merchantId);
    await refused(other, transfer, 409, /exactly the amount of another payment/);
  });

  test.each([
    [{ actor: undefined }, 'actor'],
    [{ reason: '' }, 'reason'],
    [{ transaction_id: 'A'.repeat(64) }, 'transaction_id'],
    [{ transaction_event_index: 2 ** 31 }, 'transaction_event_index'],
    [{ confirm_candidates: 0 }, 'confirm_candidates'],
    [{ confirm_candidates: 21 }, 'confirm_candidates'],
    [{ confirm_candidates: '2' }, 'confirm_candidates'],
    [{ force: true }, 'force'],
  ])('a body with %j', async (change, field) => {
    const { one, transfer } = await underpaid(payments);
    const answer = await accept(payments, one, transfer, { ...author, ...change });
    expect(answer).toMatchObject({ status: 422, json: { detail: [{ field }] } });
  });
});
