import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import type { Report } from '@quittance/contracts/http/payments/reports.ts';
import { RatesObserved } from '@quittance/contracts/messages.ts';
import { currencies, type RatesInForce } from '@quittance/contracts/rates.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { bankQuotes, exchangeQuotes, observed } from './rate-fixtures.ts';
import { newKey, newMerchant, newWallet } from './fixtures.ts';
import { type PaymentsUnderTest, startPayments } from './service.ts';

let payments: PaymentsUnderTest;
beforeAll(async () => {
  payments = await startPayments({ replicas: 2 });
});
afterAll(() => payments.close());

/** In their order: each has a reference rate, except the euro; the yen and the won have no decimals. */
const asked = ['EUR', 'USD', 'GBP', 'CHF', 'JPY', 'KRW', 'IDR', 'TRY', 'PLN', 'INR', 'BRL', 'ZAR'] as const;
const bank = {
  ...{ USD: '1.1592', GBP: '0.85815', CHF: '0.9331', JPY: '178.56', KRW: '1612.43', IDR: '18994.05' },
  ...{ TRY: '48.1234', PLN: '4.2385', INR: '101.2345', BRL: '6.2871', ZAR: '20.1234' },
};
/** A rate of 1 for dollars, whose prices are converted without a rest; those of the others have one. */
const token = { EUR: '0.8612', USD: '1' };

const rates = async () => (await payments.call<RatesInForce>('GET', '/rates')).json;

/** Publishes what the sources say, and waits until it is in force. */
async function observe(quotes: RatesObserved['quotes'], isIn: (found: RatesInForce) => boolean): Promise<void> {
  await payments.publish(RatesObserved, observed(quotes));
  await eventually(async () => expect(isIn(await rates())).toBe(true));
}

const allInForce = ({ unavailable }: RatesInForce) =>
  asked.every((currency) => !unavailable.some((one) => one.currency === currency));

type Ask = { price?: { amount: string; currency: string }; key?: string; [field: string]: unknown };

const create = (merchantId: string, { key = newKey(), ...body }: Ask) =>
  payments.call<Payment & { code?: string }>('POST', `/merchants/${merchantId}/payments`, {
    ...{ idempotency_key: key, description: 'Tea', merchant_wallet: newWallet(), network: 'local', ...body },
  });

/** By text and integers of its own: the price times the rate, in hundredths of a USDT, rounded up. */
function expectedAmount(price: string, rate: string): string {
  const decimals = (text: string) => text.split('.')[1]?.length ?? 0;
  const places = decimals(price) + decimals(rate);
  const product = BigInt(price.replace('.', '')) * BigInt(rate.replace('.', ''));
  const divisor = 10n ** BigInt(places);
  const cents = (product * 100n) / divisor + ((product * 100n) % divisor > 0n ? 1n : 0n);
  const digits = cents.toString().padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** A price that the currency can have, from one unit of its last decimal on. */
function randomPrice(currency: (typeof asked)[number]): string {
  const units = 1n + BigInt(Math.floor(Math.random() * 10 ** (2 + Math.floor(Math.random() * 7))));
  const decimals = currencies[currency];
  const digits = units.toString().padStart(decimals + 1, '0');
  return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

test('before the sources have answered there is no rate, and nothing is stored', async () => {
  const merchant = await newMerchant(payments);
  const { status, json } = await create(merchant, { price: { amount: '49.90', currency: 'EUR' } });
  expect([status, json.code]).toEqual([424, 'rate_unavailable']);
  const { rows } = await payments.db.query('select from payment where merchant_id = $1', [merchant]);
  expect(rows).toEqual([]);
  expect((await rates()).rates).toEqual([]);
});

test('200 random prices in 12 currencies: price × rate, rounded up to cents; replays are equal; the report is exact', async () => {
  await observe([...exchangeQuotes(token), ...bankQuotes(bank)], allInForce);
  const merchant = await newMerchant(payments);
  const orders = Array.from({ length: 200 }, (_, at) => {
    const currency = asked[at % asked.length]!;
    return { key: newKey(), price: { amount: randomPrice(currency), currency }, merchant_wallet: newWallet() };
  });
  const created = [];
  for (const order of orders) created.push(await create(merchant, order));
  expect(new Set(created.map(({ status }) => status))).toEqual(new Set([201]));
  for (const [at, { json }] of created.entries()) {
    const { price } = orders[at]!;
    expect(json.price).toEqual(price);
    expect(json.amount).toBe(expectedAmount(price.amount, json.rate!.value));
    expect(json.requested_amount).toBe(json.amount);
  }

  // Another rate, which replays must not get.
  await observe(exchangeQuotes({ EUR: '0.8712', USD: '1.0098' }), ({ rates: now }) =>
    now.some(({ currency, value }) => currency === 'USD' && value === '0.990295'),
  );
  for (const [at, order] of orders.entries()) {
    const again = await create(merchant, order);
    expect([again.status, again.text]).toEqual([201, created[at]!.text]);
  }
  const other = await create(merchant, { ...orders[0]!, price: { amount: '0.02', currency: 'EUR' } });
  expect([other.status, other.json.code]).toEqual([409, 'idempotency_conflict']);

  // Half of them are paid: the sums of the report are those of their prices.
  const paid = created.filter((_, at) => at % 2 === 0).map(({ json }) => json);
  await payments.db.query(
    `update payment set status = 'PAID', paid_at = created_at + interval '1 second' where payment_id = any($1)`,
    [paid.map(({ payment_id: id }) => id)],
  );
  const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  const query = `from=${day(-1)}&to=${day(1)}`;
  const answer = await payments.call<Report>('GET', `/merchants/${merchant}/report?${query}`);
  expect(answer.status).toBe(200);
  const report = answer.json;
  expect(report.totals.paid_prices).toEqual(sumsOf(paid));
  const rows = report.rows.flatMap(({ paid_prices: prices }) => Object.entries(prices));
  expect(new Set(rows.map(([currency]) => currency))).toEqual(new Set(Object.keys(sumsOf(paid))));
});

/** In hundredths, or whole units, as integers. */
function sumsOf(paid: readonly Payment[]): Record<string, string> {
  const byCurrency = Map.groupBy(paid, ({ price }) => price!.currency as (typeof asked)[number]);
  return Object.fromEntries(
    [...byCurrency].map(([currency, of]) => {
      const decimals = currencies[currency];
      const units = of.reduce((sum, { price }) => sum + BigInt(price!.amount.replace('.', '')), 0n);
      const digits = units.toString().padStart(decimals + 1, '0');
      const whole = decimals === 0 ? digits : digits.slice(0, -decimals);
      const fraction = decimals === 0 ? '' : digits.slice(-decimals).replace(/0+$/, '');
      return [currency, fraction === '' ? whole : `${whole}.${fraction}`];
    }),
  );
}

test('one exchange that lies changes nothing; two that disagree leave no rate', async () => {
  await observe(exchangeQuotes(token), ({ rates: now }) =>
    now.some(({ currency, value }) => currency === 'EUR' && value === '1.16117'),
  );
  const honest = (await rates()).rates;
  await payments.publish(RatesObserved, observed(exchangeQuotes(token, { change: { kraken: '4.9' } })));
  await eventually(async () => {
    const eur = (await rates()).rates.find(({ currency }) => currency === 'EUR')!;
    expect(eur.sources.map(({ name }) => name)).toEqual(['bitstamp', 'coinbase']);
  });
  const values = (found: RatesInForce['rates']) => found.map(({ currency, value }) => [currency, value]);
  expect(values((await rates()).rates)).toEqual(values(honest));

  await observe(
    exchangeQuotes(token, { change: { kraken: '4.9', coinbase: '0.5' } }),
    ({ rates: now }) => now.length === 0,
  );
  const merchant = await newMerchant(payments);
  const { status, json } = await create(merchant, { price: { amount: '1', currency: 'EUR' } });
  expect([status, json.code]).toEqual([424, 'rate_unavailable']);
});

test('a unique amount and an address of a pool work with a price; the event, list and page have price and rate', async () => {
  await observe([...exchangeQuotes(token), ...bankQuotes(bank)], allInForce);
  const merchant = await newMerchant(payments);
  const wallet = newWallet();
  const both = await Promise.all(
    [1, 2].map(() =>
      create(merchant, { price: { amount: '49.90', currency: 'EUR' }, merchant_wallet: wallet, unique_amount: true }),
    ),
  );
  const [one, two] = both.map(({ json }) => json);
  expect([one!.requested_amount, two!.requested_amount]).toEqual(['57.95', '57.95']);
  expect(one!.amount).toMatch(/^57\.95\d\d$/);
  expect(two!.amount).not.toBe(one!.amount);

  await payments.call('PUT', `/merchants/${merchant}/wallet-pools/shop`, {
    ...{ network: 'local', addresses: [newWallet()], append: false },
  });
  const pooled = await create(merchant, {
    ...{ price: { amount: '1', currency: 'JPY' }, wallet_pool: 'shop', merchant_wallet: undefined, network: undefined },
  });
  expect([pooled.status, pooled.json.dedicated, pooled.json.amount]).toEqual([201, true, '0.01']);

  const { json: list } = await payments.call<{ payments: Payment[] }>('GET', `/merchants/${merchant}/payments`);
  expect(list.payments.find(({ payment_id: id }) => id === one!.payment_id)).toEqual(one);
  const cancelled = await payments.call<Payment>('POST', `/merchants/${merchant}/payments/${one!.payment_id}/cancel`);
  expect([cancelled.json.price, cancelled.json.rate]).toEqual([one!.price, one!.rate]);
});
