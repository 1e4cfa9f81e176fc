import { describe, expect, test } from '@jest/globals';
import { networks, WALLET_LOWER } from '@quittance/testkit/sample-networks.ts';
import { readCreation } from '../src/payments/creation.ts';
import { creationRequest, refusedFields } from './fake-request.ts';

const rules = { networks, expiresIn: { min: 300, max: 86_400 }, localReturnUrls: false };
const read = (body: unknown) => readCreation(creationRequest(body), rules);

describe('the price of a creation', () => {
  const price = { amount: '49.90', currency: 'EUR' };
  const unpriced = { merchant_wallet: WALLET_LOWER, description: 'Order 7' };
  const valid = { ...unpriced, amount: '10.50' };
  const refused = (body: object | string) => refusedFields(() => read(body));

  test('is kept as it was sent, and stands for the amount', async () => {
    const { merchant_wallet: _, ...pooled } = unpriced;
    const whole = [price, { amount: '5000', currency: 'JPY' }, { amount: '0.01', currency: 'USD' }];
    for (const one of whole) {
      const creation = await read({ ...unpriced, price: one });
      expect(creation).toMatchObject({ price: one, network: 'local' });
      expect(creation).not.toHaveProperty('amount');
      await expect(read({ ...pooled, price: one, wallet_pool: 'main' })).resolves.toEqual({
        ...{ idempotency_key: 'order-1', description: 'Order 7', price: one, wallet_pool: 'main' },
      });
    }
    await expect(read({ ...unpriced, price, unique_amount: true })).resolves.toMatchObject({ price });
  });

  test('or the amount may be null, which counts as absent', async () => {
    await expect(read({ ...valid, price: null })).resolves.toEqual(await read(valid));
    await expect(read({ ...unpriced, amount: null, price })).resolves.toEqual(await read({ ...unpriced, price }));
  });

  test.each([{}, { amount: null }, { price: null }, { amount: null, price: null }])(
    'or the amount must be given: %j',
    async (neither) => {
      expect(await refused({ ...unpriced, ...neither })).toEqual([
        { field: 'amount', reason: 'is required: exactly one of amount and price must be given' },
      ]);
    },
  );

  test.each([price, {}, { amount: null }, { ...price, currency: 'eur' }])(
    'must not be given together with an amount: %j',
    async (one) => {
      expect(await refused({ ...valid, price: one })).toEqual([
        { field: 'price', reason: 'must not be sent together with amount' },
      ]);
    },
  );

  test('and an amount with a fault of its own are two problems', async () => {
    const named = async (body: object) => (await refused({ ...unpriced, ...body })).map(({ field }) => field);
    expect(await named({ amount: '1e3', price })).toEqual(['amount', 'price']);
    expect(await named({ amount: 10, price })).toEqual(['amount', 'price']);
    expect(await named({ amount: '1e3', price: 49.9 })).toEqual(['price', 'amount']);
  });

  const currency = /^must have a currency that is one of AUD, .*EUR, .*ZAR$/;
  const number = /^must have an amount above zero as decimal text, .* and 2 after it for EUR$/;
  const fields = 'must have the fields amount and currency, and no others';
  test.each<[reason: string | RegExp, prices: unknown[]]>([
    ['must be an object', ['49.90 EUR', '', 49.9, 0, true, false, [], [price]]],
    [currency, [{}, { amount: null }, { amount: '49.90' }, { ...price, currency: null }]],
    [
      currency,
      ['eur', 'EU', 'EUR ', 'USDT', 'BTC', 'toString', '', 978, ['EUR']].map((one) => ({ ...price, currency: one })),
    ],
    [number, [{ currency: 'EUR' }, { ...price, amount: null }]],
    [
      number,
      ['0', '0.00', '-1', '+1', '01', '1.', '.5', '49.905', '1e2', '1,50', ' 1', '1\n', '', '１'].map((one) => ({
        ...price,
        amount: one,
      })),
    ],
    [number, [49.9, 1, true, ['1'], '1234567890123'].map((one) => ({ ...price, amount: one }))],
    [
      /^must have an amount .* and no point for JPY$/,
      ['0.5', '500.0', '0'].map((one) => ({ amount: one, currency: 'JPY' })),
    ],
    [
      fields,
      [
        { ...price, rate: '1' },
        { ...price, Amount: '1' },
        { ...price, network: null },
      ],
    ],
  ])('has one problem: %s', async (reason, prices) => {
    for (const one of prices) {
      const problem = { field: 'price', reason: typeof reason === 'string' ? reason : expect.stringMatching(reason) };
      expect([one, await refused({ ...unpriced, price: one })]).toEqual([one, [problem]]);
    }
  });

  test('has no field __proto__, and none that is given twice', async () => {
    const withPrice = (json: string) => JSON.stringify({ ...unpriced, price: 0 }).replace(':0', `:${json}`);
    expect(await refused(withPrice('{"amount":"1","currency":"EUR","__proto__":{"amount":"2"}}'))).toEqual([
      { field: 'price', reason: fields },
    ]);
    const twice = '{"amount":"1","currency":"EUR"},"price":{"amount":"1","currency":"EUR"}';
    for (const json of ['{"amount":"1","amount":"2","currency":"EUR"}', twice])
      expect((await refused(withPrice(json))).map(({ field }) => field)).toEqual(['price']);
  });
});
