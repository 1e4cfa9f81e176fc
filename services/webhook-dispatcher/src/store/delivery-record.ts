import type { DeliveryRecord, DeliveryStatus, ErrorCategory } from '@quittance/contracts/webhook.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';

/** A delivery as PostgreSQL and Prisma both hand it out, with its event's payment. */
export type DeliveryRow = {
  event_id: string;
  payment_id: string;
  status: string;
  attempts: number;
  created_at: Date;
  last_attempt_at: Date | null;
  next_attempt_at: Date | null;
  delivered_at: Date | null;
  error_category: string | null;
};

/** What a merchant reads of a delivery: never the URL, the body or a key. The table holds only the known words. */
export function deliveryRecord(row: DeliveryRow): DeliveryRecord {
  return {
    event_id: row.event_id,
    payment_id: row.payment_id,
    status: row.status as DeliveryStatus,
    attempts: row.attempts,
    created_at: rfc3339(row.created_at),
    last_attempt_at: timeOrNull(row.last_attempt_at),
    next_attempt_at: timeOrNull(row.next_attempt_at),
    delivered_at: timeOrNull(row.delivered_at),
    error_category: row.error_category as ErrorCategory | null,
  };
}

/** RFC 3339, or null for what has not happened. */
export const timeOrNull = (date: Date | null): string | null => (date === null ? null : rfc3339(date));
