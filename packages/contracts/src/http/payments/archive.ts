import { defineCall, json, object } from '../../call.ts';
import { query } from '../../query.ts';

/** Nothing that ended later than this may leave the database: retries, replays and late money are long over then. */
export const ARCHIVE_AFTER_DAYS = 90;
/** Most payments that are removed in one transaction. */
export const REMOVED_AT_ONCE = 50;

/** A payment as the archive keeps it: its row, and the transfers that pay it or were meant for it. Amounts in units are texts. */
export type ArchivedRecord = { payment: Record<string, unknown>; transfers: Record<string, unknown>[] };

/** `sha256` is of the record as payments has it, lowercase hex. */
export type ArchivablePayment = { payment_id: string; sha256: string; record: ArchivedRecord };

/**
 * Payments that were created and ended before a time, and of which nothing waits, in the order of their ids. `next` goes into `after`; it
 * is null at the end, and a page may be empty before. 422 for a time within the last 90 days.
 */
export const ReadArchivable = defineCall(
  'payments',
  'GET /archive/payments',
  json<{ payments: ArchivablePayment[]; next: string | null }>(),
  { access: 'admin', query: { before: query.timestamp, after: query.text } },
);

type Removal = { payments: Pick<ArchivablePayment, 'payment_id' | 'sha256'>[] };

/**
 * Removes payments that are still exactly as the archive has them. `kept` are those that are here all the same, because something about
 * them has changed or is changing. Those that are not here count as removed before.
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
