import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { paymentStatuses } from '@quittance/contracts/api/payment.ts';
import { insertPast, pastPayment } from '../../payments/test/finding-fixtures.ts';
import { personOf } from './merchant-world.ts';
import { startWorld, type World } from './world.ts';

const MONTH = 'from=2026-10-01&to=2026-10-31';

// Five services and a console start for it, and everybody asks for everything.
jest.setTimeout(3_600_000);

let world: World;
let anna: Awaited<ReturnType<typeof personOf>>;
const merchants: string[] = [];

/** More payments than one piece of an export has, of two merchants, in the month and around it. */
beforeAll(async () => {
  world = await startWorld();
  const { services } = world;
  for (const name of ['Own', 'Foreign']) {
    const { merchant_id: id } = await services.merchant({ access_type: 'legacy', total_limit: 10, name });
    merchants.push(id);
    const days = Array.from({ length: 700 }, (_, n) => new Date(Date.UTC(2026, 8, 20) + n * 7_200_000));
    const payments = days.map((created_at, n) =>
      pastPayment({
        ...{ merchant_id: id, created_at, status: paymentStatuses[n % 5]!, amount_units: 1_000_000 + n * 37 },
        description: `${name}, "quoted"; =SUM(A1)`,
        order_id: `=HYPERLINK("https://evil.example/${n}")`,
      }),
    );
    const transfers = payments
      .filter(({ status }) => status === 'PAID')
      .map((payment) => ({
        ...{ payment, transaction_id: randomBytes(32).toString('hex'), decimals: 6, accepted: false },
        amount_units: String(payment.amount_units),
      }));
    await insertPast(services.pools.payments, payments, transfers);
  }
  anna = await personOf(world, { merchantId: merchants[0]! }, 'anna');
});
afterAll(() => world.close());

type Line = { payment_id: string; status: string; paid_at: string | null; transaction: { amount: string } | null };

/** Millionths, without a floating point. */
const unitsOf = (amount: string): bigint => {
  const [whole = '0', fraction = ''] = amount.split('.');
  return BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0'));
};

test("a month's export has the merchant's payments and nobody else's, and its sums are those of the report and of the database", async () => {
  const answer = await anna.get(`/my/export?${MONTH}&format=ndjson`);
  expect([answer.status, answer.headers.get('content-disposition')]).toEqual([
    ...[200, 'attachment; filename="payments-2026-10-01-2026-10-31.ndjson"'],
  ]);
  const lines = answer.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line & { end?: number });
  const payments = lines.filter((line) => line.end === undefined);
  expect(lines.at(-1)).toEqual({ end: payments.length });
  const { rows } = await world.services.pools.payments.query<{ ids: string[]; paid: string; units: string }>(
    `select array_agg(p.payment_id order by p.created_at, p.payment_id) as ids, count(p.paid_at)::text as paid,
            sum(t.amount_units::numeric)::text as units
       from payment p left join transfer t on t.payment_id = p.payment_id
      where p.merchant_id = $1 and p.created_at >= '2026-10-01Z' and p.created_at < '2026-11-01Z'`,
    [merchants[0]],
  );
  expect(payments.length).toBeGreaterThan(300);
  expect(payments.map(({ payment_id: id }) => id)).toEqual(rows[0]?.ids);
  const paid = payments.filter(({ paid_at: at }) => at !== null);
  const total = paid.reduce((sum, { transaction }) => sum + unitsOf(transaction?.amount ?? '0'), 0n);
  expect([String(paid.length), String(total)]).toEqual([rows[0]?.paid, rows[0]?.units]);

  for (const group of ['day', 'month']) {
    const { text } = await anna.get(`/my/report?${MONTH}&group=${group}`);
    expect(fact(text, 'Created')).toBe(String(payments.length));
    expect(fact(text, 'Paid')).toBe(String(paid.length));
    expect(unitsOf(fact(text, 'Paid amount').replaceAll(/,| USDT/g, ''))).toBe(total);
  }
});

/** The first one of this name on a page: the totals stand before the rows. */
const fact = (text: string, name: string): string =>
  new RegExp(`<dt>${name}</dt>\\s*<dd>(?:<span[^>]*>)?([^<]*)<`).exec(text)?.[1]?.trim() ?? '';

test('as CSV it has one line for each, of one status if one is asked for, and no cell that a spreadsheet would run', async () => {
  const { text } = await anna.get(`/my/export?${MONTH}&format=csv&status=PAID`);
  const lines = text.trimEnd().split('\r\n');
  const { rows } = await world.services.pools.payments.query(
    `select from payment where merchant_id = $1 and status = 'PAID' and created_at >= '2026-10-01Z' and created_at < '2026-11-01Z'`,
    [merchants[0]],
  );
  expect(lines).toHaveLength(rows.length + 1);
  expect(text).not.toMatch(/(^|,)"?=/m);
  expect(text).toContain(`"'=HYPERLINK(`);
  expect(text).toContain(`"Own, ""quoted""; '=SUM(A1)"`);
  expect(text).not.toMatch(/; =/);
  expect(text).not.toContain('Foreign');
});

test('CSV begins with a byte order mark, unless the address says that it should not, and ndjson with none', async () => {
  const firstOf = async (query: string) => (await anna.get(`/my/export?${MONTH}${query}`)).text.slice(0, 11);
  expect(await firstOf('')).toBe('\ufeffpayment_id');
  expect(await firstOf('&bom=0')).toBe('payment_id,');
  expect(await firstOf('&format=ndjson')).toBe('{"payment_i');
});

test.each([
  ['', 'from must be given'],
  ['from=2026-10-01', 'to must be given'],
  ['from=2026-10-02&to=2026-10-01', 'to must be from the first day on'],
  ['from=2025-10-01&to=2026-10-02', 'at most 366 days'],
  ['from=2026-02-30&to=2026-10-02', 'from must be a day'],
  [`${MONTH}&format=xlsx`, 'format must be csv or ndjson'],
  [`${MONTH}&merchant_id=mer_1`, ''],
])('an export of %j is refused with a page, or ignores what it does not know', async (query, problem) => {
  const { status, headers, text } = await anna.get(`/my/export?${query}`);
  if (problem === '') {
    expect([status, text.includes('Foreign')]).toEqual([200, false]);
    return;
  }
  expect([status, headers.get('content-type')]).toEqual([422, 'text/html; charset=utf-8']);
  expect(text).toContain(problem);
});
