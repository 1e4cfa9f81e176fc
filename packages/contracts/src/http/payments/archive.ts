import { defineCall, json, object } from '../../call.ts';
import { query } from '../../query.ts';

/**
 * Payments that ended later than this must stay in the database: after it, retries, replays and late transfers are long
 * over.
 */
export const ARCHIVE_AFTER_DAYS = 90;
/** The most payments that are removed in one transaction. */
export const REMOVED_AT_ONCE = 50;

/**
 * A payment as the archive stores it: its row, and the transfers that pay it or were meant for it. Amounts in units are
 * texts.
 */
export type ArchivedRecord = { payment: Record<string, unknown>; transfers: Record<string, unknown>[] };

/** `sha256` is of the record in payments, lowercase hex. */
export type ArchivablePayment = { payment_id: string; sha256: string; record: ArchivedRecord };

/**
 * Payments that were created and ended before a time and have nothing pending, in the order of their ids. Pass `next`
 * as `after`; it is null at the end. A page may be empty before the end. 422 for a time within the last 90 days.
 */
export const ReadArchivable = defineCall(
  'payments',
  'GET /archive/payments',
  json<{ payments: ArchivablePayment[]; next: string | null }>(),
  { access: 'admin', query: { before: query.timestamp, after: query.text } },
);

type Removal = { payments: Pick<ArchivablePayment, 'payment_id' | 'sha256'>[] };

/**
 * Removes payments that are still exactly as archived. `kept` lists those that stay because something about them has
 * changed or is changing. Missing payments count as already removed.
 */
export const RemoveArchived = defineCall(
  'payments',
  'POST /archive/removals',
  json<{ removed: number; kept: string[] }>(),
  {
    authored: true,
    access: 'admin',
    idempotent: true,
    body: object<Removal>({
      payments: {
        type: 'array',
        minItems: 1,
        maxItems: REMOVED_AT_ONCE,
        items: {
          type: 'object',
          required: ['payment_id', 'sha256'],
          properties: { payment_id: { type: 'string' }, sha256: { type: 'string', pattern: '^[0-9a-f]{64}$' } },
        },
      },
    }),
  },
);
