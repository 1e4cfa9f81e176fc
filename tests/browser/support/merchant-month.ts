import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { AMOUNT_DECIMALS, formatUnits, parseAmount } from '@quittance/contracts/amount.ts';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { parse } from 'csv-parse/sync';
import type { Download, Page } from 'playwright-core';
import { insertPast, pastPayment } from '../../../services/payments/test/finding-fixtures.ts';
import { inDatabase, withDatabase } from '../../support/database.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** Thirty days, and tomorrow for a test that runs past midnight. */
export type Month = { from: string; to: string };

/** A month's totals: exact, without zeros at the end of the sum. */
export type Sums = { created: number; paid: number; paidAmount: string };

/** Contains the separator and the quote of a CSV cell. */
export const DESCRIPTION = 'Cake "Sacher", small';

/** The past days of a month of a shop that sells all day, and the days before it. Every seventh paid payment was short and accepted. */
export async function fillMonth({ postgres_url: url }: StackFile, merchant_id: string): Promise<Month> {
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const start = today - 29 * DAY_MS;
  const payments = Array.from({ length: 68 }, (_, n) =>
    pastPayment({
      ...{ merchant_id, created_at: new Date(start + (n - 6) * 11 * HOUR_MS), description: DESCRIPTION },
      ...{
        status: (['PAID', 'EXPIRED', 'PAID', 'CANCELLED'] as const)[n % 4]!,
        amount_units: 9_999_999 + n * 1_234_567,
      },
    }),
  );
  const transfers = payments
    .filter(({ status }) => status === 'PAID')
    .map((payment, n) => {
      const accepted = n % 7 === 0;
      const units = String(payment.amount_units - (accepted ? 1_000_001 : 0));
      return { payment, accepted, amount_units: units, decimals: 6, transaction_id: randomBytes(32).toString('hex') };
    });
  await withDatabase(url, async (db) => {
    await db.query('set search_path to payments');
    await insertPast(db, payments, transfers);
  });
  return { from: dayOf(start), to: dayOf(today + DAY_MS) };
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

export async function sumsInDatabase(stack: StackFile, merchantId: string, { from, to }: Month): Promise<Sums> {
  const [row] = await inDatabase<Sums>(
    stack,
    `select count(*)::integer as created, count(t.payment_id)::integer as paid,
            trim_scale(sum(t.amount_units / 10::numeric ^ t.decimals))::text as "paidAmount"
       from payments.payment p left join payments.transfer t on t.payment_id = p.payment_id and p.status = 'PAID'
      where p.merchant_id = $1 and p.created_at >= $2::timestamp at time zone 'UTC'
        and p.created_at < ($3::timestamp + interval '1 day') at time zone 'UTC'`,
    [merchantId, from, to],
  );
  if (row === undefined) throw new Error('the database counted nothing');
  return row;
}

/** The totals above the report, without what only people read: commas, and cents that are zero. */
export async function sumsOnPage(page: Page): Promise<Sums> {
  const names = await page.locator('main dl dt').allInnerTexts();
  const values = await page.locator('main dl dd').allInnerTexts();
  const fact = (name: string): string => (values[names.indexOf(name)] ?? '').replaceAll(',', '');
  return {
    created: Number(fact('Created')),
    paid: Number(fact('Paid')),
    paidAmount: fact('Paid amount')
      .replace(/(\.\d*?)0*(?: USDT)?$/, '$1')
      .replace(/\.$/, ''),
  };
}

export async function linesOf(download: Download): Promise<Record<string, string>[]> {
  return parse(await readFile(await download.path()), { columns: true, bom: true });
}

export function sumsOfLines(lines: readonly Record<string, string>[]): Sums {
  const paid = lines.filter(({ status }) => status === 'PAID');
  const units = paid.reduce((sum, { transaction_amount: amount = '' }) => sum + unitsOf(amount), 0n);
  return { created: lines.length, paid: paid.length, paidAmount: formatUnits(units, AMOUNT_DECIMALS) };
}

function unitsOf(amount: string): bigint {
  const units = parseAmount(amount);
  if (units === null) throw new Error(`the export says that ${JSON.stringify(amount)} was paid`);
  return units;
}
