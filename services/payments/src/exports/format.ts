import { stringify } from 'csv-stringify/sync';
import { BYTE_ORDER_MARK, csvOptions } from '@quittance/contracts/csv.ts';
import type { ExportFormat } from '@quittance/contracts/http/payments/finding.ts';
import type { Payment } from '@quittance/contracts/payment.ts';

/** How payments are written one after the other. Each part ends with a line's end. */
export type Writer = {
  contentType: string;
  head: string;
  lines(payments: readonly Payment[]): string;
  /** @param count of all payments before it. */
  end(count: number): string;
};

/** The names of a payment's own fields, and of its transaction's with `transaction_` before them. Metadata is JSON in one cell. */
const columns = [
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

function cellsOf({ transaction, metadata, ...payment }: Payment): Cells {
  const cells = {
    ...payment,
    transaction_id: transaction?.transaction_id ?? null,
    transaction_event_index: transaction?.transaction_event_index ?? null,
    transaction_block_number: transaction?.block_number ?? null,
    transaction_block_timestamp: transaction?.block_timestamp ?? null,
    transaction_amount: transaction?.amount ?? null,
    transaction_accepted: transaction === null ? null : String(transaction.accepted),
    metadata: Object.keys(metadata).length === 0 ? null : JSON.stringify(metadata),
  };
  return Object.fromEntries(columns.map((column) => [column, cells[column]])) as Cells;
}
