import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { OperatorsPayment } from '@quittance/contracts/http/payments/payments.ts';
import type { Wallet } from '@quittance/contracts/http/payments/wallets.ts';
import { newId } from '@quittance/contracts/ids.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { type PaymentsUnderTest, startPayments } from './service.ts';
import { confirmed, expire, untilRecorded } from './acceptance-fixtures.ts';
import { create, newMerchant, newPayment, newWallet, wholeSecond } from './fixtures.ts';

// Real processes are slow on a busy machine; no test here depends on the time.
let payments: PaymentsUnderTest;
beforeAll(async () => {
  payments = await startPayments({ replicas: 2 });
});
afterAll(() => payments.close());

const show = async (address: string) => (await payments.call<Wallet>('GET', `/wallets/${address}`)).json;
/** For the operator: the unmatched transfers on a wallet, without their ids. */
const payingNothing = async (address: string) =>
  (await show(address)).unmatched_transfers.map(
    ({ amount, phase, merchant_id, related_payment_id, candidates, reason }) => ({
      ...{ amount, phase, merchant_id, related_payment_id, candidates, reason },
    }),
  );
const author = { actor: 'olga', reason: 'the shop was sold' };
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown as string;

describe('a wallet', () => {
  test('belongs to the first merchant that creates on it, also when two create at once', async () => {
    const wallet = newWallet();
    const merchants = await Promise.all([newMerchant(payments), newMerchant(payments), newMerchant(payments)]);
    const answers = await Promise.all(
      merchants.map((merchantId, position) => create(payments, merchantId, { wallet, amount: String(position + 1) })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409]);
    const { rows } = await payments.db.query('select merchant_id from wallet where address = $1', [wallet]);
    expect(rows[0]).toEqual({ merchant_id: merchants[answers.findIndex(({ status }) => status === 201)] });
  });

  test.each([
    ['that another merchant binds while a creation on it waits is refused to that creation', '7'],
    ['that another merchant binds by a payment of the same amount is refused to a creation that waits', '12.34'],
  ])('%s', async (_, amount) => {
    const late = await newMerchant(payments);
    const { merchantId: first, payment } = await newPayment(payments, { amount: '12.34' });
    const wallet = newWallet();
    const binding = await payments.db.connect();
    try {
      await binding.query('begin; set local idle_in_transaction_session_timeout = 0');
      await binding.query('insert into wallet (address, merchant_id, bound_at) values ($1, $2, now())', [
        wallet,
        first,
      ]);
      await binding.query(
        `insert into payment select (jsonb_populate_record(p, jsonb_build_object(
           'payment_id', md5(payment_id), 'public_token', md5(public_token), 'token_sha256', sha256(token_sha256), 'recipient', $2::text))).*
           from payment p where payment_id = $1`,
        [payment.payment_id, wallet],
      );
      const answer = create(payments, late, { wallet, amount });
      // Not its batch, which gives up at the first lock, but the creation alone.
      await eventually(async () => {
        const { rowCount } = await payments.db.query(
          `select from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock' and query like '%insert into payment %'`,
        );
        expect(rowCount).toBe(1);
      });
      await binding.query('commit');
      const { status, json } = await answer;
      expect([status, json]).toEqual([409, expect.objectContaining({ code: 'wallet_of_another_merchant' })]);
    } finally {
      await binding.query('rollback');
      binding.release();
    }
    expect((await payments.db.query('select from payment where merchant_id = $1', [late])).rowCount).toBe(0);
  });

  test('can be released by the operator, which is audited', async () => {
    const { merchantId, payment } = await newPayment(payments);
    const other = await newMerchant(payments);
    const order = { wallet: payment.merchant_wallet, amount: '99' };
    expect((await create(payments, other, order)).status).toBe(409);
    const path = `/wallets/${payment.merchant_wallet.toLowerCase()}/release`;
    expect((await payments.call('POST', path, author)).json).toEqual({
      address: payment.merchant_wallet,
      merchant_id: merchantId,
    });
    expect((await payments.call('POST', path, author)).status).toBe(404);
    expect((await create(payments, other, order)).status).toBe(201);
    const { rows } = await payments.db.query(
      'select merchant_id, actor, reason from wallet_release where address = $1',
      [payment.merchant_wallet],
    );
    expect(rows).toEqual([{ merchant_id: merchantId, ...author }]);
  });
});

test('a wallet shows its owner, since when, and every release with its author and reason', async () => {
  const wallet = newWallet();
  const unused = {
    merchant_id: null,
    bound_at: null,
    proven_at: null,
    releases: [],
    proofs: [],
    unmatched_transfers: [],
  };
  expect(await show(wallet)).toEqual({ address: wallet, ...unused });
  const [first, second] = [await newMerchant(payments), await newMerchant(payments)];
  const before = Date.now();
  expect((await create(payments, first, { wallet, amount: '1' })).status).toBe(201);
  const bound = await show(wallet);
  expect(bound).toEqual({ ...unused, address: wallet, merchant_id: first, bound_at: time });
  expect(Date.parse(bound.bound_at!)).toBeGreaterThanOrEqual(before - 1);
  expect((await create(payments, second, { wallet, amount: '2' })).status).toBe(409);

  const released = await payments.call('POST', `/wallets/${wallet}/release`, author);
  expect(released).toMatchObject({ status: 200, json: { address: wallet, merchant_id: first } });
  expect(await show(wallet)).toEqual({
    ...unused,
    address: wallet,
    releases: [{ merchant_id: first, ...author, released_at: time }],
  });
  expect((await create(payments, second, { wallet, amount: '2' })).status).toBe(201);
  expect(await show(wallet)).toMatchObject({ merchant_id: second, releases: [{ merchant_id: first }] });

  const audit = await payments.call<{ entries: { at: string }[] }>('GET', `/merchants/${first}/audit`);
  const [entry] = audit.json.entries;
  expect(audit.json.entries).toEqual([
    { at: time, action: 'release_wallet', ...author, before: { wallet }, after: { wallet: null } },
  ]);
  const earlier = await payments.call('GET', `/merchants/${first}/audit?before=${entry!.at}`);
  expect(earlier.json).toEqual({ entries: [] });
  expect((await payments.call('GET', `/merchants/${second}/audit`)).json).toEqual({ entries: [] });
});

test('of two concurrent releases of a wallet one succeeds, and the other finds no owner', async () => {
  const wallet = newWallet();
  const merchantId = await newMerchant(payments);
  expect((await create(payments, merchantId, { wallet })).status).toBe(201);
  const releases = await Promise.all([1, 2].map(() => payments.call('POST', `/wallets/${wallet}/release`, author)));
  expect(releases.map(({ status }) => status).sort()).toEqual([200, 404]);
  expect((await show(wallet)).releases).toHaveLength(1);
});

test('any spelling of an address is the same wallet, and a text that is no address is 422', async () => {
  const wallet = newWallet();
  const merchantId = await newMerchant(payments);
  expect((await create(payments, merchantId, { wallet })).status).toBe(201);
  expect(await show(wallet.toLowerCase())).toMatchObject({ address: wallet, merchant_id: merchantId });
  for (const path of ['/wallets/0x12', '/wallets/%2e%2e%2f']) {
    expect(await payments.call('GET', path)).toMatchObject({ status: 422, json: { detail: [{ field: 'address' }] } });
  }
  const unsaid = await payments.call('POST', `/wallets/${wallet}/release`, { actor: 'olga' });
  expect(unsaid).toMatchObject({ status: 422, json: { detail: [{ field: 'reason' }] } });
  const wrong = await payments.call('GET', `/merchants/${newId('mer')}/audit?before=x`);
  expect(wrong).toMatchObject({ status: 422, json: { detail: [{ field: 'before' }] } });
});

describe('money outside every payment window', () => {
  const minutes = (count: number) => 60 * count;

  test.each([
    ['9', 'underpaid', 'while it waited', 1],
    ['11', 'overpaid', 'while it waited', 1],
    ['9', 'underpaid', 'after the end', 40],
    ['10', 'late', 'after the end', 40],
  ])('%s for 10 is shown to merchant and operator as %s, when it came %s', async (amount, reason, _, minute) => {
    const one = await newPayment(payments, { amount: '10' });
    const transfer = await one.observe({
      ...{ amount_units: `${amount}000000`, block_timestamp: wholeSecond(one.payment.created_at, minutes(minute)) },
      ...confirmed,
    });
    await untilRecorded(payments, transfer);
    // An unfinished payment has no late transfer.
    await expire(payments, one);
    const { transaction_id } = transfer;
    expect(await one.details()).toMatchObject({
      unmatched_transfers: [{ transaction_id, amount, reason, candidate_count: 1 }],
    });
    const { json } = await payments.call('GET', `/payments/${one.payment.payment_id}`);
    const candidates = [one.payment.payment_id];
    expect(json).toMatchObject({ transfers: [{ transaction_id, amount, reason, candidates }] });
    const { merchantId: merchant_id } = one;
    expect(await payingNothing(one.payment.merchant_wallet)).toEqual([
      { amount, phase: 'confirmed', merchant_id, related_payment_id: one.payment.payment_id, candidates, reason },
    ]);
  });

  test.each(['9', '10', '11'])(
    '%s that came before the first payment on its wallet belongs to no payment',
    async (amount) => {
      const one = await newPayment(payments, { amount: '10' });
      const transfer = await one.observe({
        ...{ amount_units: `${amount}000000`, block_timestamp: wholeSecond(one.payment.created_at, minutes(-1)) },
        ...confirmed,
      });
      await untilRecorded(payments, transfer);
      expect(await one.details()).toMatchObject({ status: 'PENDING', unmatched_transfers: [] });
      const { json } = await payments.call('GET', `/payments/${one.payment.payment_id}`);
      expect(json).toMatchObject({ transfers: [] });
      const { merchantId: merchant_id } = one;
      expect(await payingNothing(one.payment.merchant_wallet)).toEqual([
        { amount, phase: 'confirmed', merchant_id, related_payment_id: null, candidates: [], reason: 'no_payment' },
      ]);
    },
  );

  test('and to a wallet without a payment is shown to the operator, like transfers that are not confirmed yet', async () => {
    const one = await newPayment(payments, { amount: '5' });
    const { merchantId: merchant_id, payment } = one;
    const wallet = newWallet();
    await untilRecorded(payments, await one.observe({ to: wallet }));
    expect(await payingNothing(wallet)).toEqual([
      { amount: '5', phase: 'seen', merchant_id, related_payment_id: null, candidates: [], reason: 'no_payment' },
    ]);

    await one.age(5);
    await one.cancel();
    await untilRecorded(payments, await one.observe({ block_timestamp: wholeSecond(new Date(), -60) }));
    expect(await payingNothing(payment.merchant_wallet)).toEqual([
      {
        ...{ amount: '5', phase: 'seen', merchant_id, reason: 'unconfirmed' },
        ...{ related_payment_id: payment.payment_id, candidates: [payment.payment_id] },
      },
    ]);
  });

  test('of the amount of two payments, one after the other in a slot, is shown with the one in whose window it came', async () => {
    const one = await newPayment(payments, { amount: '6' });
    const first = await one.observe(confirmed);
    await eventually(async () => expect((await one.details()).status).toBe('PAID'));
    const { merchant_wallet: wallet } = one.payment;
    const two = await newPayment(payments, { amount: '6', wallet }, one.merchantId);
    const block_timestamp = wholeSecond(two.payment.created_at, 1);
    const paying = await two.observe({ ...confirmed, block_timestamp });
    await eventually(async () => expect((await two.details()).status).toBe('PAID'));
    const again = await two.observe({ ...confirmed, block_timestamp });
    await untilRecorded(payments, again);
    // The merchant finds it with the payment it was meant for.
    expect((await one.details()).unmatched_transfers).toEqual([]);
    expect((await two.details()).unmatched_transfers).toMatchObject([{ reason: 'duplicate' }]);
    const shown = async ({ payment }: typeof one) => {
      const { json } = await payments.call<OperatorsPayment>('GET', `/payments/${payment.payment_id}`);
      return json.transfers.map(({ transaction_id: id, reason }) => [id, reason]);
    };
    expect(await shown(one)).toEqual([[first.transaction_id, null]]);
    expect(await shown(two)).toEqual([
      [paying.transaction_id, null],
      [again.transaction_id, 'duplicate'],
    ]);
  });
});

test("a merchant's wallets are listed, the newest first, and not those it lost", async () => {
  const merchant = await newMerchant(payments);
  const wallets = [newWallet(), newWallet(), newWallet()];
  for (const [at, wallet] of wallets.entries())
    expect((await create(payments, merchant, { wallet, amount: `${at + 1}` })).status).toBe(201);
  const [first, lost, last] = wallets;
  expect((await payments.call('POST', `/wallets/${lost}/release`, author)).status).toBe(200);
  const own = { bound_at: time, proven_at: null };
  expect((await payments.call('GET', `/merchants/${merchant}/wallets`)).json).toEqual({
    wallets: [
      { address: last, ...own },
      { address: first, ...own },
    ],
  });
});
