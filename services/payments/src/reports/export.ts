import { paymentFields, type Payment, type PaymentStatus } from '@quittance/contracts/api/payment.ts';
import { randomUUID } from 'node:crypto';
import type { Cursor } from '@quittance/contracts/http/payments/payments.ts';
import { HttpError } from '@quittance/http/errors.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { createSemaphore } from '@quittance/runtime/concurrency/semaphore.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { anything, listPayments } from '../payment/list.sql.ts';
import { extendExportLease, releaseExportLease, takeExportLease } from './report.sql.ts';
import type { ProgressSources } from '../payment/progress.ts';
import { toPayments } from '../payment/view.ts';
import { stringify } from 'csv-stringify/sync';
import { BYTE_ORDER_MARK, csvOptions } from '@quittance/contracts/csv.ts';
import type { ExportFormat } from '@quittance/contracts/http/payments/finding.ts';

export type ExportContext = ProgressSources & {
  db: Queryable;
  networks: readonly string[];
  publicBaseUrl: string;
  logger: Logger;
};

export type ExportRequest = {
  merchantId: string;
  status: PaymentStatus | null;
  createdFrom: Date | null;
  createdTo: Date | null;
  writer: Writer;
};

/** Payments in one statement and one chunk of the answer: few enough that writing them takes only milliseconds. */
const PAGE = 250;

/** This many exports read at once, each on its own connection. */
const inTurn = createSemaphore(2);

/** A quarter of the lease, so that one or two failures do not end it. */
const EXTEND_EVERY_MS = 10_000;

/**
 * A merchant's payments, oldest first, chunk by chunk. Every payment created before the export began is in it exactly once, as it is when
 * its chunk is read; later ones are not. Each chunk is one short statement, so a slow reader blocks nothing.
 * @throws HttpError 429 with the first chunk, while another export of the merchant is running.
 */
export async function* exportPayments(context: ExportContext, request: ExportRequest): AsyncGenerator<Buffer, void> {
  const { merchantId, writer } = request;
  const lease = await holdLease(context, merchantId);
  try {
    const createdTo =
      request.createdTo === null || request.createdTo > lease.heldSince ? lease.heldSince : request.createdTo;
    let text = writer.head;
    let count = 0;
    let after: Cursor | null = null;
    do {
      const page = await readPage(context, { ...request, createdTo }, after);
      await lease.keep();
      after = page.next;
      count += page.payments.length;
      text += writer.lines(page.payments) + (after === null ? writer.end(count) : '');
      yield Buffer.from(text);
      text = '';
    } while (after !== null);
  } finally {
    await lease.release();
  }
}

async function readPage(
  { db, networks, publicBaseUrl, ...progress }: ExportContext,
  { merchantId, status, createdFrom, createdTo }: ExportRequest,
  after: Cursor | null,
): Promise<{ payments: Payment[]; next: Cursor | null }> {
  const filter = { ...anything, status, createdFrom, createdTo };
  const part = { after, limit: PAGE, order: 'oldest first' } as const;
  const { payments, next } = await inTurn(() => listPayments(db, merchantId, { networks, filter, part }));
  return { payments: await toPayments(payments, progress, publicBaseUrl), next };
}

/** Held for the whole export, however slowly it is read. A process that was frozen finds that it has lost the lease. */
async function holdLease({ db, logger }: ExportContext, merchantId: string) {
  const holder = randomUUID();
  const taken = await takeExportLease(db, merchantId, holder);
  if ('secondsLeft' in taken) {
    throw new HttpError(429, 'Another export of this merchant is under way', {
      'retry-after': String(taken.secondsLeft),
    });
  }
  let extendedAt = performance.now();
  const keep = async (): Promise<void> => {
    if (performance.now() - extendedAt < EXTEND_EVERY_MS) return;
    if (!(await extendExportLease(db, merchantId, holder))) throw new Error('the export lost its lease');
    extendedAt = performance.now();
  };
  // Also runs while a slow reader takes its time for one chunk.
  const timer = setInterval(() => {
    keep().catch((error: unknown) => logger.warn({ error }, 'the lease of an export could not be extended'));
  }, EXTEND_EVERY_MS);
  return {
    heldSince: taken.heldSince,
    keep,
    async release() {
      clearInterval(timer);
      // A lease that cannot be released ends by itself.
      await releaseExportLease(db, merchantId, holder).catch((error: unknown) =>
        logger.warn({ error }, 'the lease of an export could not be released'),
      );
    },
  };
}

/** How payments are written one after the other. Each part ends with a line break. */
export type Writer = {
  contentType: string;
  head: string;
  lines(payments: readonly Payment[]): string;
  /** @param count of all payments before it. */
  end(count: number): string;
};

/** The columns of the first release, in their order: programs read them by position. */
const firstColumns = [
  'payment_id',
  'reference',
  'order_id',
  'status',
  'amount',
  'requested_amount',
  'currency',
  'network',
  'merchant_wallet',
  'description',
  'created_at',
  'expires_at',
  'paid_at',
  'cancelled_at',
  'transaction_id',
  'transaction_event_index',
  'transaction_block_number',
  'transaction_block_timestamp',
  'transaction_amount',
  'transaction_accepted',
  'payment_url',
  'return_url',
  'metadata',
] as const;

/** Columns of the fields that are objects. */
const priceColumns = ['price_amount', 'price_currency', 'rate', 'rate_as_of', 'rate_sources'] as const;
const objects = ['transaction', 'price', 'rate'] as const;
const isPlain = (name: keyof Payment): name is Exclude<keyof Payment, (typeof objects)[number]> =>
  !objects.some((object) => object === name);

/**
 * A payment's own fields, and its transaction's with the prefix `transaction_`. Metadata and the sources of a rate are JSON in one cell. New
 * fields come last.
 */
const columns = [...new Set([...firstColumns, ...paymentFields.filter(isPlain), ...priceColumns])];

type Cells = Record<(typeof columns)[number], string | number | null>;

export const writers: Record<ExportFormat, Writer> = {
  csv: {
    contentType: 'text/csv; charset=utf-8',
    head: csv([columns]),
    lines: (payments) => csv(payments.map((payment) => Object.values(cellsOf(payment)))),
    end: () => '',
  },
  ndjson: {
    contentType: 'application/x-ndjson; charset=utf-8',
    head: '',
    lines: (payments) => payments.map((payment) => `${JSON.stringify(payment)}\n`).join(''),
    end: (count) => `${JSON.stringify({ end: count })}\n`,
  },
};

/** @param forSpreadsheet whether CSV begins with a byte order mark; ndjson never does, because JSON has none. */
export const writerOf = (format: ExportFormat, forSpreadsheet: boolean): Writer =>
  format === 'csv' && forSpreadsheet
    ? { ...writers.csv, head: `${BYTE_ORDER_MARK}${writers.csv.head}` }
    : writers[format];

function csv(rows: readonly (readonly (string | number | null)[])[]): string {
  return stringify([...rows] as (string | number | null)[][], csvOptions);
}

function cellsOf({ transaction, metadata, price, rate, ...payment }: Payment): Cells {
  const cells = {
    ...payment,
    transaction_id: transaction?.transaction_id ?? null,
    transaction_event_index: transaction?.transaction_event_index ?? null,
    transaction_block_number: transaction?.block_number ?? null,
    transaction_block_timestamp: transaction?.block_timestamp ?? null,
    transaction_amount: transaction?.amount ?? null,
    transaction_accepted: transaction === null ? null : String(transaction.accepted),
    dedicated: String(payment.dedicated),
    metadata: Object.keys(metadata).length === 0 ? null : JSON.stringify(metadata),
    price_amount: price?.amount ?? null,
    price_currency: price?.currency ?? null,
    rate: rate?.value ?? null,
    rate_as_of: rate?.as_of ?? null,
    rate_sources: rate === null ? null : JSON.stringify(rate.sources),
  };
  return Object.fromEntries(columns.map((column) => [column, cells[column]])) as Cells;
}
