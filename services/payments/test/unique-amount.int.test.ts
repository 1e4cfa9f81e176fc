import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { insist } from '@quittance/testkit/insist.ts';
import { create, newKey, newMerchant, newPayment, newWallet, type Order } from './fixtures.ts';
import { type Answer, type PaymentsUnderTest, startPayments } from './service.ts';

// Real processes are slow on a busy machine; no test here depends on the time.

const PRICE = '49.90';
const ALL = 99;
const everyAmount = Array.from({ length: ALL }, (_, step) => `49.90${String(step + 1).padStart(2, '0')}`);
/** With all of these open, no other six decimals are left that are neither cut nor rounded to one of them. */
const andThen = Array.from({ length: 49 }, (_, step) => `49.9000${String(step + 1).padStart(2, '0')}`);

let payments: PaymentsUnderTest;
let unbound: PaymentsUnderTest;
beforeAll(async () => {
  [payments, unbound] = await Promise.all([
    startPayments({ replicas: 2 }),
    startPayments({ replicas: 2, settings: { WALLET_BINDING: 'off' } }),
  ]);
});
afterAll(() => Promise.all([payments.close(), unbound.close()]));

const unique = (order: Partial<Order> = {}): Partial<Order> => ({
  key: newKey(),
  amount: PRICE,
  ...order,
  options: { unique_amount: true, ...order.options },
});

/** Until it is decided: with so many on one gate some get 503, and retry with the same key. */
const ask = (of: PaymentsUnderTest, merchantId: string, order: Partial<Order>): Promise<Answer<Payment>> =>
  insist(() => create(of, merchantId, order), { intervalMs: 25 });

const amountsOf = (answers: readonly Answer<Payment>[]): string[] => answers.map(({ json }) => json.amount).sort();

/** Takes all amounts with four decimals of the price on a new wallet. */
async function takeAll() {
  const [merchantId, wallet] = [await newMerchant(payments), newWallet()];
  const answers = await Promise.all(
    everyAmount.map(() => ask(payments, merchantId, unique({ wallet })).then(({ json }) => json)),
  );
  const close = (amount: string) => {
    const { payment_id: id } = answers.findLast((payment) => payment.amount === amount)!;
    return payments.call('POST', `/merchants/${merchantId}/payments/${id}/cancel`);
  };
  const next = async () => {
    const answer = await ask(payments, merchantId, unique({ wallet }));
    if (answer.status === 201) answers.push(answer.json);
    return answer;
  };
  const age = (amount: string, hours: number) =>
    payments.db.query(
      `update payment set created_at = created_at - $3 * interval '1 hour', expires_at = expires_at - $3 * interval '1 hour',
                          cancelled_at = cancelled_at - $3 * interval '1 hour' where recipient = $1 and amount = $2`,
      [wallet, amount, hours],
    );
  return { merchantId, wallet, close, next, age };
}

describe('99 creations at once on one address and price', () => {
  test('of one merchant get the 99 amounts, 49 more get six decimals, and the next is refused like a slot that is taken', async () => {
    const [merchantId, wallet] = [await newMerchant(payments), newWallet()];
    const askFor = (amounts: readonly string[]) =>
      Promise.all(amounts.map(() => ask(payments, merchantId, unique({ wallet }))));
    const answers = await askFor(everyAmount);
    expect(amountsOf(answers)).toEqual(everyAmount);
    expect(answers.every(({ json }) => json.requested_amount === PRICE)).toBe(true);
    expect(amountsOf(await askFor(andThen))).toEqual(andThen);
    const refused = await ask(payments, merchantId, unique({ wallet }));
    const detail = 'Finish the current payment with this amount on this address first';
    expect([refused.status, refused.json]).toMatchObject([409, { detail, code: 'payment_unfinished' }]);
    expect((await ask(payments, merchantId, unique({ wallet, amount: '49.91' }))).status).toBe(201);
  });

  test('of eleven merchants who share the address get the 99 amounts, and the next gets six decimals', async () => {
    const merchants = await Promise.all(Array.from({ length: 11 }, () => newMerchant(unbound)));
    const wallet = newWallet();
    const answers = await Promise.all(
      everyAmount.map((_, at) => ask(unbound, merchants[at % merchants.length]!, unique({ wallet }))),
    );
    expect(amountsOf(answers)).toEqual(everyAmount);
    expect(andThen).toContain((await ask(unbound, merchants[0]!, unique({ wallet }))).json.amount);
  });
});

describe('an amount', () => {
  test('that was given rests for 24 hours without exception, also while all others are open', async () => {
    const { close, next, age } = await takeAll();
    // Not in the order in which they were given.
    const closed = ['49.9071', '49.9003', '49.9042'];
    for (const amount of closed) expect((await close(amount)).status).toBe(200);
    await age('49.9042', 25);
    expect((await next()).json.amount).toBe('49.9042');
    const others = await Promise.all(Array.from({ length: 10 }, next));
    for (const { json } of others) expect(json.amount).toMatch(/^49\.9\d{5}$/);
    // Unless six decimals that are cut or rounded to it are waiting, it is given again after the 24 hours, and no other closed one is.
    const given = others.map(({ json }) => json.amount);
    const near = given.filter((amount) => amount.startsWith('49.9003'));
    const ended = [...near, given.find((amount) => !near.includes(amount))!];
    for (const amount of ended) await close(amount);
    await age('49.9003', 25);
    expect((await next()).json.amount).toBe('49.9003');
    const again = await Promise.all(Array.from({ length: 10 }, next));
    for (const { json } of again) expect([...closed, ...ended]).not.toContain(json.amount);
  });

  test('is in the message, and a replay repeats it to the byte; the same key without it is another body', async () => {
    const merchantId = await newMerchant(payments);
    const order = unique({ wallet: newWallet(), amount: '7' });
    const first = await ask(payments, merchantId, order);
    expect(first.json.amount).toMatch(/^7\.00(0[1-9]|[1-9]\d)$/);
    expect(first.json.requested_amount).toBe('7');
    const again = await ask(payments, merchantId, { ...order, amount: '7.0' });
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true']);
    expect((await ask(payments, merchantId, { ...order, options: {} })).status).toBe(409);
    await eventually(() => {
      const said = payments.received.created.find(({ payment_id: id }) => id === first.json.payment_id);
      expect(said?.amount).toBe(first.json.amount);
    });
  });

  test('is refused while a payment of the bare price waits, and the bare price while one near it waits', async () => {
    const [merchantId, wallet] = [await newMerchant(payments), newWallet()];
    const plain = await newPayment(payments, { wallet, amount: '49.9' }, merchantId);
    expect((await ask(payments, merchantId, unique({ wallet }))).status).toBe(409);
    await plain.cancel();
    const near = await newPayment(payments, unique({ wallet }), merchantId);
    const refused = await ask(payments, merchantId, { key: newKey(), wallet, amount: '49.9' });
    expect([refused.status, refused.json]).toMatchObject([409, { code: 'payment_unfinished' }]);
    expect((await ask(payments, merchantId, { key: newKey(), wallet, amount: '49.91' })).status).toBe(201);
    await near.cancel();
    await newPayment(payments, { wallet, amount: '49.9005' }, merchantId);
    expect((await ask(payments, merchantId, { key: newKey(), wallet, amount: '49.9' })).status).toBe(201);
  });

  test('and the bare price, asked for at once by merchants who share the address, never wait together', async () => {
    const merchants = await Promise.all(Array.from({ length: 8 }, () => newMerchant(unbound)));
    for (let round = 0; round < 8; round += 1) {
      const wallet = newWallet();
      const answers = await Promise.all(
        merchants.map((merchant, at) =>
          ask(unbound, merchant, at % 2 === 0 ? unique({ wallet }) : { key: newKey(), wallet, amount: PRICE }),
        ),
      );
      const created = answers.filter(({ status }) => status === 201).map(({ json }) => json.amount !== PRICE);
      expect(created.length).toBeGreaterThan(0);
      expect(created).toEqual(created.map(() => created[0]));
    }
  });

  test('needs a price of at most two decimals', async () => {
    const answer = await create(payments, await newMerchant(payments), unique({ amount: '1.001' }));
    expect([answer.status, answer.json.detail]).toMatchObject([422, [{ field: 'unique_amount' }]]);
  });
});

test('a refusal does not keep a wallet that had no owner', async () => {
  const [first, second] = await Promise.all([newMerchant(payments), newMerchant(payments)]);
  const wallet = newWallet();
  await newPayment(payments, { wallet, amount: PRICE }, first);
  await payments.call('POST', `/wallets/${wallet}/release`, { actor: 'ada', reason: 'sold the shop' });
  expect((await ask(payments, second, unique({ wallet }))).status).toBe(409);
  const { rows } = await payments.db.query('select from wallet where address = $1', [wallet]);
  expect(rows).toEqual([]);
});

test('who sends its exact amount pays it; who drops the last digits has paid too little, and pays no other payment', async () => {
  const [merchantId, wallet] = [await newMerchant(payments), newWallet()];
  const one = await newPayment(payments, unique({ wallet, options: { order_id: 'shop-7' } }), merchantId);
  const two = await newPayment(payments, unique({ wallet }), merchantId);
  const bare = await one.observe({ phase: 'confirmed', amount_units: '49900000' });
  const short = [expect.objectContaining({ transaction_id: bare.transaction_id, reason: 'underpaid', amount: '49.9' })];
  await eventually(async () => {
    for (const payment of [one, two])
      expect(await payment.details()).toMatchObject({ status: 'PENDING', unmatched_transfers: short });
  });
  const exact = await two.observe({ phase: 'confirmed' });
  await eventually(async () => {
    const { status, transaction } = await two.details();
    expect([status, Number(transaction!.amount)]).toEqual(['PAID', Number(two.payment.amount)]);
    const said = payments.received.paid.find(({ payment_id: id }) => id === two.payment.payment_id);
    expect(said).toMatchObject({
      expected_amount: two.payment.amount,
      requested_amount: PRICE,
      transaction_id: exact.transaction_id,
    });
  });
  expect((await one.details()).status).toBe('PENDING');
});

test('exactly the bare price may be for the payment that asked for it and still rests, and for no unique one', async () => {
  const [merchantId, wallet] = [await newMerchant(payments), newWallet()];
  const earlier = await newPayment(payments, { wallet, amount: PRICE }, merchantId);
  await payments.call('POST', `/merchants/${merchantId}/payments/${earlier.payment.payment_id}/cancel`);
  const waiting = await newPayment(payments, unique({ wallet }), merchantId);
  const { transaction_id: id } = await waiting.observe({ phase: 'confirmed', amount_units: '49900000' });
  await eventually(async () => {
    const { rows } = await payments.db.query(
      'select related_payment_id, reason from transfer where transaction_id = $1',
      [id],
    );
    expect(rows).toEqual([{ related_payment_id: earlier.payment.payment_id, reason: 'after_cancel' }]);
  });
});
