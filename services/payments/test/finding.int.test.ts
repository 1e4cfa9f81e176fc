import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { referenceOf } from '@quittance/contracts/payment-reference.ts';
import { newId } from '@quittance/contracts/ids.ts';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { type TestDatabase, testDatabase, testPool } from '@quittance/testkit/database.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { exportPayments, type ExportRequest, writerOf, writers } from '../src/reports/export.ts';
import { migrations, schema } from '../src/migrations.ts';
import { readReport } from '../src/reports/report.ts';
import { noTips, createConfirmationPolicy } from '../src/payment/progress.ts';
import { insertPast, pastPayment, type PastPayment, type PastTransfer, transferOf } from './finding-fixtures.ts';

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await testDatabase({ schema, migrations });
  pool = testPool({ url: database.url, schema, max: 3 });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const DAY_MS = 86_400_000;
const midnight = (day: string): number => Date.parse(`${day}T00:00:00Z`);

describe('an export', () => {
  const start = (merchantId: string, request: Partial<ExportRequest> = {}) =>
    exportPayments(
      {
        db: pool,
        networks: ['local'],
        publicBaseUrl: 'https://pay.example',
        logger: testLogger,
        readTips: () => Promise.resolve(noTips),
        policy: createConfirmationPolicy([]),
      },
      { merchantId, status: null, createdFrom: null, createdTo: null, writer: writers.ndjson, ...request },
    );

  async function textOf(pieces: AsyncIterable<Buffer>): Promise<string> {
    let text = '';
    for await (const piece of pieces) text += piece.toString('utf8');
    return text;
  }

  /** Payments of a new merchant, many of them in one millisecond, oldest first. */
  async function merchantWith(count: number, more: Partial<PastPayment> = {}) {
    const merchantId = newId('mer');
    const payments = Array.from({ length: count }, (_, n) =>
      pastPayment({
        merchant_id: merchantId,
        created_at: new Date(midnight('2026-01-05') + Math.floor(n / 40)),
        ...more,
      }),
    );
    await insertPast(pool, payments);
    const sorted = [...payments].sort(
      (one, other) =>
        one.created_at.getTime() - other.created_at.getTime() || (one.payment_id < other.payment_id ? -1 : 1),
    );
    return { merchantId, ids: sorted.map(({ payment_id: id }) => id) };
  }

  const idsOf = (lines: string): unknown[] =>
    lines
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as Payment).payment_id);

  test('has every payment once, oldest first, and their number at its end', async () => {
    const { merchantId, ids } = await merchantWith(620);
    const lines = (await textOf(start(merchantId))).split('\n');
    expect(lines.slice(-2)).toEqual(['{"end":620}', '']);
    expect(idsOf(lines.slice(0, -2).join('\n'))).toEqual(ids);
  });

  test('without payments states that', async () => {
    expect(await textOf(start(newId('mer')))).toBe('{"end":0}\n');
    expect(await textOf(start(newId('mer'), { writer: writers.csv }))).toBe(writers.csv.head);
  });

  test('has the payments that existed when it began, as they are when their turn comes, and no later ones', async () => {
    const { merchantId, ids } = await merchantWith(300);
    const pieces = start(merchantId);
    const first = (await pieces.next()).value as Buffer;
    await insertPast(pool, [pastPayment({ merchant_id: merchantId, created_at: new Date(Date.now() + 60_000) })]);
    await pool.query(`update payment set status = 'CANCELLED', cancelled_at = now() where payment_id = any($1)`, [
      [ids[0], ids.at(-1)],
    ]);
    const rest = (await textOf(pieces)).split('\n');
    expect([...idsOf(first.toString()), ...idsOf(rest.slice(0, -2).join('\n'))]).toEqual(ids);
    expect(first.toString()).not.toContain('CANCELLED');
    expect(rest.at(-3)).toContain('"status":"CANCELLED"');
  });

  test('can be limited to a status and a span of time', async () => {
    const { merchantId, ids } = await merchantWith(100);
    await pool.query(`update payment set status = 'EXPIRED' where payment_id = any($1)`, [[ids[3], ids[45], ids[90]]]);
    const at = midnight('2026-01-05');
    const span = { createdFrom: new Date(at + 1), createdTo: new Date(at + 2), status: 'EXPIRED' as const };
    expect(idsOf((await textOf(start(merchantId, span))).split('\n')[0]!)).toEqual([ids[45]]);
  });

  test('as CSV follows RFC 4180, and no cell is a formula', async () => {
    const { merchantId, ids } = await merchantWith(1, {
      description: '=HYPERLINK("http://x","a"), "quoted"',
      recipient: '0x52908400098527886E0F7030069857D2E4169EE7',
      order_id: '@SUM(A1)',
      metadata: { cart: '+1' },
    });
    const text = await textOf(start(merchantId, { writer: writers.csv }));
    const [head, row, end] = text.split('\r\n');
    expect(head).toBe(
      'payment_id,reference,order_id,status,amount,requested_amount,currency,network,merchant_wallet,description,created_at,expires_at,' +
        'paid_at,cancelled_at,transaction_id,transaction_event_index,transaction_block_number,transaction_block_timestamp,transaction_amount,' +
        'transaction_accepted,payment_url,return_url,metadata,accept_from_percent,dedicated,derivation_index,received_amount,' +
        'price_amount,price_currency,rate,rate_as_of,rate_sources',
    );
    expect(row).toContain(
      `${ids[0]},${referenceOf(ids[0]!)},'@SUM(A1),PENDING,10.5,10.5,USDT,local,0x52908400098527886E0F7030069857D2E4169EE7,` +
        `"'=HYPERLINK(""http://x"",""a""), ""quoted""",2026-01-05T00:00:00.000Z,`,
    );
    expect(row).toMatch(/,,"\{""cart"":""\+1""\}",,false,,,,,,,$/);
    expect(end).toBe('');
  });

  test.each([
    ['=1', "'=1"],
    ['＝1', "'＝1"],
    [' \u00a0-1', " \u00a0'-1"],
    ['\t=1', "\t'=1"],
    ["Tea;=cmd|'/C calc'!A0", "Tea;'=cmd|'/C calc'!A0"],
    ['Tea\r@x', '"Tea\r\'@x"'],
    ['Tea\n"+1', '"Tea\n""\'+1"'],
  ])('as CSV has %j as the text %j', (description, cell) => {
    const payment = { description, transaction: null, metadata: {}, dedicated: false, rate: null } as Payment;
    expect(writers.csv.lines([payment])).toBe(`${','.repeat(9)}${cell}${','.repeat(15)}false,,,,,,,\r\n`);
  });

  test('as CSV for a spreadsheet begins with a byte order mark, and as ndjson never', async () => {
    const { merchantId, ids } = await merchantWith(260);
    const plain = await textOf(start(merchantId, { writer: writerOf('csv', false) }));
    const marked = await textOf(start(merchantId, { writer: writerOf('csv', true) }));
    expect([plain.startsWith('payment_id,'), marked]).toEqual([true, `\ufeff${plain}`]);
    const lines = await textOf(start(merchantId, { writer: writerOf('ndjson', true) }));
    expect(idsOf(lines.slice(0, lines.indexOf('{"end"')))).toEqual(ids);
  });

  test('is the only one of its merchant until it ends, breaks or is left, and others have theirs', async () => {
    const [one, other] = [await merchantWith(600), await merchantWith(1)];
    const isFree = async (): Promise<boolean> => {
      const pieces = start(one.merchantId);
      try {
        await pieces.next();
        return true;
      } catch (error) {
        expect(error).toMatchObject({
          status: 429,
          headers: { 'retry-after': expect.stringMatching(/^([1-9]|[1-4]\d)$/) },
        });
        return false;
      } finally {
        await pieces.return();
      }
    };
    const running = start(one.merchantId);
    await running.next();
    expect(await isFree()).toBe(false);
    expect(await textOf(start(other.merchantId))).toContain('{"end":1}');
    await textOf(running);
    expect(await isFree()).toBe(true);

    const left = start(one.merchantId);
    await left.next();
    await left.return();
    expect(await isFree()).toBe(true);

    const broken = start(one.merchantId, {
      writer: {
        ...writers.ndjson,
        end: () => {
          throw new Error('broken');
        },
      },
    });
    await expect(textOf(broken)).rejects.toThrow('broken');
    expect(await isFree()).toBe(true);
  });

  test('that was killed leaves its place when its lease ends', async () => {
    const { merchantId } = await merchantWith(600);
    const killed = start(merchantId);
    await killed.next();
    await pool.query(`update export_lease set ends_at = now() - interval '1 second' where merchant_id = $1`, [
      merchantId,
    ]);
    const next = start(merchantId);
    await next.next();
    await expect(start(merchantId).next()).rejects.toMatchObject({ status: 429 });
    // The first one's release does not end the lease of the second.
    await killed.return();
    await expect(start(merchantId).next()).rejects.toMatchObject({ status: 429 });
    await next.return();
    expect(await textOf(start(merchantId))).toContain('{"end":600}');
  });
});

describe('a report', () => {
  type Options = { group?: 'day' | 'month'; by?: 'payment' | 'chain' };
  const report = (merchantId: string, from: string, to: string, { group = 'day', by = 'payment' }: Options = {}) =>
    readReport(pool, merchantId, { from: new Date(midnight(from)), to: new Date(midnight(to)), group, by });

  test('counts each payment where it happened, with exact amounts', async () => {
    const merchantId = newId('mer');
    const { payments, transfers, expected } = randomHistory(merchantId, 400);
    await insertPast(pool, payments, transfers);
    await insertPast(pool, [pastPayment({ merchant_id: newId('mer'), created_at: new Date(midnight('2026-01-10')) })]);
    for (const group of ['day', 'month'] as const)
      for (const by of ['payment', 'chain'] as const)
        expect({ by, ...(await report(merchantId, '2026-01-05', '2026-02-10', { group, by })) }).toEqual({
          by,
          ...expected({ from: '2026-01-05', to: '2026-02-10', group, by }),
        });
  });

  test('books an outage’s money on the day of its block, or on the day it was noticed', async () => {
    const merchantId = newId('mer');
    const created = new Date(midnight('2026-04-01') + DAY_MS - 60_000);
    const paid = pastPayment({
      ...{ merchant_id: merchantId, created_at: created, status: 'PAID', paid_at: new Date(midnight('2026-04-03')) },
    });
    // The block's clock is behind: its time is before the payment's creation, on the previous day.
    const lagging = pastPayment({
      ...{ merchant_id: merchantId, created_at: new Date(midnight('2026-04-02')), status: 'PAID' },
      ...{ paid_at: new Date(midnight('2026-04-02') + 1_000) },
    });
    const block = {
      payment: paid,
      transaction_id: 'a'.repeat(64),
      amount_units: '10500000',
      decimals: 6,
      accepted: false,
    };
    await insertPast(
      pool,
      [paid, lagging],
      [
        { ...block, block_timestamp: new Date(created.getTime() + 30_000) },
        {
          ...block,
          payment: lagging,
          transaction_id: 'b'.repeat(64),
          block_timestamp: new Date(midnight('2026-04-02') - 40_000),
        },
      ],
    );
    const paidOn = async (by: 'payment' | 'chain') =>
      (await report(merchantId, '2026-04-01', '2026-04-03', { by })).rows
        .filter((row) => row.paid > 0)
        .map((row) => [row.period, row.paid, row.paid_amount]);
    expect(await paidOn('payment')).toEqual([
      ['2026-04-02', 1, '10.5'],
      ['2026-04-03', 1, '10.5'],
    ]);
    expect(await paidOn('chain')).toEqual([['2026-04-01', 2, '21']]);
  });

  test('without payments is empty', async () => {
    const totals = { created: 0, paid: 0, paid_amount: '0', expired: 0, cancelled: 0, paid_prices: {} };
    expect(await report(newId('mer'), '2026-01-01', '2026-01-01')).toEqual({ rows: [], totals });
  });

  test('of more than 400 rows is refused', async () => {
    const merchantId = newId('mer');
    const days = Array.from({ length: 201 }, (_, n) => new Date(midnight('2026-01-01') + n * DAY_MS));
    const payments = ['local', 'other'].flatMap((network) =>
      days.map((created_at) => pastPayment({ merchant_id: merchantId, created_at, network })),
    );
    await insertPast(pool, payments);
    expect((await report(merchantId, '2026-01-01', '2026-07-19')).rows).toHaveLength(400);
    await expect(report(merchantId, '2026-01-01', '2026-07-20')).rejects.toMatchObject({ status: 422 });
    expect((await report(merchantId, '2026-01-01', '2026-07-20', { group: 'month' })).rows).toHaveLength(14);
  });
});

/** Payments around the turn of days and months; some are paid or cancelled weeks later, some with a different amount. */
function randomHistory(merchantId: string, count: number) {
  const transfers: PastTransfer[] = [];
  const payments = Array.from({ length: count }, (_, n) => {
    const made = midnight('2026-01-03') + Math.floor(Math.random() * 40 * DAY_MS);
    const created = new Date(n % 7 === 0 ? made - (made % DAY_MS) : made);
    const later = new Date(created.getTime() + Math.floor(Math.random() * (n % 5 === 0 ? 20 * DAY_MS : 3_600_000)));
    const status = (['PENDING', 'PAID', 'EXPIRED', 'CANCELLED', 'PAID'] as const)[Math.floor(Math.random() * 5)]!;
    const network = ['local', 'other'][n % 2]!;
    const payment = pastPayment({
      ...{
        merchant_id: merchantId,
        created_at: created,
        status,
        network,
        amount_units: 1 + Math.floor(Math.random() * 1e9),
      },
      paid_at: status === 'PAID' ? later : null,
      // A payment that was cancelled and then paid keeps its cancellation time.
      cancelled_at: status === 'CANCELLED' || (status === 'PAID' && n % 3 === 0) ? later : null,
    });
    if (status === 'PAID') {
      // Sometimes noticed on a day other than that of its block.
      const mined = new Date(created.getTime() + Math.floor(Math.random() * (later.getTime() - created.getTime())));
      transfers.push({ ...transferOf(payment, n % 4 === 0, network === 'other' ? 18 : 6), block_timestamp: mined });
    }
    return payment;
  });
  const carried = new Map(
    transfers.map(({ payment, amount_units: units, decimals }) => [
      payment,
      BigInt(units) * 10n ** BigInt(18 - decimals),
    ]),
  );
  const minedAt = new Map(transfers.map(({ payment, block_timestamp: time }) => [payment, time]));
  const happened = (payment: PastPayment, by: Asked['by']): Date =>
    (by === 'chain' && minedAt.get(payment)) || payment.paid_at!;
  return { payments, transfers, expected: (asked: Asked) => expectedReport(payments, { carried, happened }, asked) };
}

type Asked = { from: string; to: string; group: 'day' | 'month'; by: 'payment' | 'chain' };

/** The same computed differently: payment by payment. */
function expectedReport(
  payments: readonly PastPayment[],
  paid: { carried: Map<PastPayment, bigint>; happened: (payment: PastPayment, by: Asked['by']) => Date },
  { from, to, group, by }: Asked,
) {
  const counts = () => ({ created: 0, paid: 0, units: 0n, expired: 0, cancelled: 0 });
  const rows = new Map<string, ReturnType<typeof counts>>();
  const totals = counts();
  const add = (payment: PastPayment, at: Date, what: 'created' | 'paid' | 'expired' | 'cancelled') => {
    const day = at.toISOString().slice(0, 10);
    if (day < from || day > to) return;
    const key = `${day.slice(0, group === 'day' ? 10 : 7)} ${payment.network}`;
    rows.set(key, rows.get(key) ?? counts());
    for (const row of [rows.get(key)!, totals]) {
      row[what] += 1;
      if (what === 'paid') row.units += paid.carried.get(payment)!;
    }
  };
  for (const payment of payments) {
    add(payment, payment.created_at, 'created');
    if (payment.status === 'PAID') add(payment, paid.happened(payment, by), 'paid');
    if (payment.status === 'EXPIRED') add(payment, payment.expires_at, 'expired');
    if (payment.status === 'CANCELLED') add(payment, payment.cancelled_at!, 'cancelled');
  }
  const shown = ({ units, ...row }: ReturnType<typeof counts>) => {
    const digits = units.toString().padStart(19, '0');
    const text = `${digits.slice(0, -18)}.${digits.slice(-18)}`;
    return { ...row, paid_amount: text.replace(/\.?0+$/, ''), paid_prices: {} };
  };
  return {
    rows: [...rows.keys()].sort().map((key) => {
      const [period, network] = key.split(' ');
      return { period, network, ...shown(rows.get(key)!) };
    }),
    totals: shown(totals),
  };
}
