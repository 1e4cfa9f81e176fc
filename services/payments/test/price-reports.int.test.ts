import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import type { Price } from '@quittance/contracts/rates.ts';
import type { ReportGroup, ReportTime } from '@quittance/contracts/http/payments/reports.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { type TestDatabase, testDatabase, testPool } from '@quittance/testkit/database.ts';
import { readArchivable, removeArchived } from '../src/archive/archive.sql.ts';
import { migrations, schema } from '../src/migrations.ts';
import { readReport } from '../src/reports/report.ts';
import { insertPast, type PastPayment, pastPayment, type PastTransfer, transferOf } from './finding-fixtures.ts';

let database: TestDatabase;
let pool: Pool;
beforeAll(async () => {
  database = await testDatabase({ schema, migrations });
  pool = testPool({ url: database.url, schema, max: 2 });
});
afterEach(() =>
  pool.query(
    'truncate payment, transfer, transfer_acceptance, payment_cancellation, incident, archived_day, archived_price',
  ),
);
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** A midnight, long enough ago that payments of the following days can be archived. */
const first = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS - 120 * DAY_MS);
const after = (ms: number): Date => new Date(first.getTime() + ms);
const dayOf = (time: Date): string => time.toISOString().slice(0, 10);
const DAYS = 4;
const span = { from: first, to: after((DAYS - 1) * DAY_MS) };

type Known = { payment: PastPayment; mined: Date };

const statuses = ['PAID', 'PAID', 'PAID', 'EXPIRED', 'CANCELLED', 'PAID', 'PENDING'] as const;
const currencies: (string | null)[] = ['EUR', 'JPY', 'EUR', 'USD', null];

/** From the smallest price to some thousands, with and without decimals. */
function priceOf(position: number): Price | null {
  const currency = currencies[position % currencies.length] ?? null;
  if (currency === null) return null;
  const cents = position === 0 ? 1 : (position * 7919) % 400_000;
  if (currency === 'JPY' || cents % 100 === 0) return { currency, amount: String(cents) };
  return { currency, amount: `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}` };
}

/** Payments around each midnight: a third became PAID on the day after their block, and a third on the day before. */
const past = (merchant: string): Known[] =>
  Array.from({ length: 70 }, (_, position) => {
    const midnight = (1 + (Math.floor(position / 3) % (DAYS - 1))) * DAY_MS;
    const [made, paid, mined] = [
      [-30, 2, -1],
      [-40, -1, 1],
      [-600, -590, -591],
    ][position % 3]!.map((minutes) => after(midnight + minutes * MINUTE_MS));
    const status = statuses[position % statuses.length]!;
    const payment = pastPayment({
      ...{ merchant_id: merchant, status, created_at: made!, network: position % 4 === 0 ? 'tron' : 'local' },
      ...{ price: priceOf(position), amount_units: 10_000 * (position + 1) },
      ...(status === 'PAID' && { paid_at: paid! }),
    });
    return { payment, mined: mined! };
  });

async function insert(known: readonly Known[]): Promise<void> {
  const transfers = known
    .filter(({ payment }) => payment.status === 'PAID')
    .map(({ payment, mined }): PastTransfer => ({ ...transferOf(payment, false, 6), block_timestamp: mined }));
  await insertPast(
    pool,
    known.map(({ payment }) => payment),
    transfers,
  );
}

const report = (merchant: string, by: ReportTime, group: ReportGroup = 'day') =>
  readReport(pool, merchant, { ...span, group, by });

/** Sums in hundredths of each currency, by period, network and currency. */
function summed(known: readonly Known[], periodOf: (one: Known) => string): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const one of known) {
    const { price, status, network } = one.payment;
    if (price === null || status !== 'PAID') continue;
    const key = [periodOf(one), network, price.currency].join(' ');
    sums.set(key, (sums.get(key) ?? 0n) + hundredths(price.amount));
  }
  return sums;
}

function hundredths(amount: string): bigint {
  const [whole = '', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.padEnd(2, '0'));
}

const reported = ({ rows }: Awaited<ReturnType<typeof report>>): Map<string, bigint> =>
  new Map(
    rows.flatMap(({ period, network, paid_prices: prices }) =>
      Object.entries(prices).map(([currency, sum]): [string, bigint] => [
        [period, network, currency].join(' '),
        hundredths(sum),
      ]),
    ),
  );

const times: [ReportTime, (one: Known) => Date][] = [
  ['payment', ({ payment }) => payment.paid_at!],
  ['chain', ({ mined }) => mined],
];

test.each(times)(
  'by the time of %s, the sums of prices are those of each day, month and network',
  async (by, timeOf) => {
    const [merchant, other] = [newId('mer'), newId('mer')];
    const known = past(merchant);
    await insert([...known, ...past(other)]);
    const days = summed(known, (one) => dayOf(timeOf(one)));
    expect(days.size).toBeGreaterThan(12);
    expect(reported(await report(merchant, by))).toEqual(days);
    const months = summed(known, (one) => dayOf(timeOf(one)).slice(0, 7));
    const byMonth = await report(merchant, by, 'month');
    expect(reported(byMonth)).toEqual(months);
    const totals = Object.entries(byMonth.totals.paid_prices).map(([currency, sum]) => [currency, hundredths(sum)]);
    expect(new Map(totals as [string, bigint][])).toEqual(
      new Map([...summed(known, () => '')].reduce(withoutNetwork, new Map<string, bigint>())),
    );
  },
);

/** Adds the networks up. */
function withoutNetwork(sums: Map<string, bigint>, [key, sum]: [string, bigint]): Map<string, bigint> {
  const currency = key.split(' ').at(-1)!;
  return sums.set(currency, (sums.get(currency) ?? 0n) + sum);
}

test('the two times differ here, so a report that ignores the choice is noticed', () => {
  const known = past('mer_1');
  const [payment, chain] = times.map(([, timeOf]) => summed(known, (one) => dayOf(timeOf(one))));
  expect(payment).not.toEqual(chain);
});

test('an accepted transfer counts its price once: in whole, by either time', async () => {
  const merchant = newId('mer');
  const price = { amount: '49.90', currency: 'EUR' };
  const [paid, mined] = [after(2 * DAY_MS + MINUTE_MS), after(DAY_MS + MINUTE_MS)];
  const payment = pastPayment({ merchant_id: merchant, created_at: first, status: 'PAID', paid_at: paid, price });
  await insertPast(pool, [payment], [{ ...transferOf(payment, true, 18), block_timestamp: mined }]);
  expect(reported(await report(merchant, 'payment'))).toEqual(new Map([[`${dayOf(paid)} local EUR`, 4990n]]));
  expect(reported(await report(merchant, 'chain'))).toEqual(new Map([[`${dayOf(mined)} local EUR`, 4990n]]));
});

test('the report of archived days is the one before they were archived, after each part of them', async () => {
  const merchant = newId('mer');
  const known = past(merchant);
  await insert(known);
  const [before, byMonth] = [await report(merchant, 'payment'), await report(merchant, 'payment', 'month')];
  expect(reported(before).size).toBeGreaterThan(12);
  const { payments: own } = await readArchivable(pool, { before: after(DAYS * DAY_MS), after: '' });
  expect(own.length).toBeGreaterThan(40);
  for (let from = 0; from < own.length; from += 20) {
    const part = own.slice(from, from + 20);
    const { removed } = await transaction(pool, (tx) =>
      removeArchived(tx, part, { actor: 'olga', reason: 'the year is over' }),
    );
    expect(removed).toBe(part.length);
    expect(await report(merchant, 'payment')).toEqual(before);
    expect(await report(merchant, 'payment', 'month')).toEqual(byMonth);
  }
  // The archive keeps the day of the payment only.
  expect(await report(merchant, 'chain')).toEqual(before);
});
