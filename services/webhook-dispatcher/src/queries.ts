import { PrismaPg } from '@prisma/adapter-pg';
import type { DeliveryRecord } from '@quittance/contracts/webhook.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { PrismaClient } from '../generated/client.ts';
import type { DeliveryRow } from './store/delivery-record.ts';
import { deliveryRecord } from './store/delivery-record.ts';

/** Lists answer at most this many records. Source: the API contract, "Size and list limits". */
const MAX_RECORDS = 100;
/** Failed events that are counted at most. */
const MAX_COUNTED = 100_000;

/** A failed event as an operator sees it. */
type FailedEvent = DeliveryRecord & { merchant_id: string; cycle: number; interruptions: number };

/** How one event is doing, as an operator sees it. */
export type EventState = DeliveryRecord & {
  merchant_id: string;
  cycle: number;
  cycle_started_at: string;
  interruptions: number;
  /** A process is at it; `next_attempt_at` is when its lease lapses. */
  in_flight: boolean;
};

/** One POST that ended. */
type AttemptRecord = {
  cycle: number;
  n: number;
  started_at: string;
  duration_ms: number;
  http_status: number | null;
  /** Null for a 2xx. */
  error_category: string | null;
  key_id: string;
  remote_ip: string | null;
};

type AuditEntry = { at: string; action: string; actor: string; reason: string | null; event_id: string | null };

/** Typed reads, for the merchant's diagnosis and for operators. */
export type Queries = {
  /** Newest first; empty for a payment without an event and for another merchant's payment alike. */
  deliveriesOf(merchantId: string, paymentId: string): Promise<DeliveryRecord[]>;
  /** Oldest first, those after an event if one is given, and how many there are in all, up to 100,000; of one merchant or of all. */
  failedEvents(of: {
    merchantId: string | null;
    after: string | null;
  }): Promise<{ events: FailedEvent[]; total: number }>;
  /** By its own id or its payment's; null when there is none. */
  findEvent(by: { eventId: string } | { paymentId: string }): Promise<EventState | null>;
  /** Newest first; those that began before a moment if one is given. */
  attemptsOf(eventId: string, before: Date | null): Promise<AttemptRecord[]>;
  /** What was done to a merchant's endpoint, keys and events, newest first; those before a moment if one is given. */
  audit(merchantId: string, before: Date | null): Promise<AuditEntry[]>;
};

/** Exactly what the records need: the body's bytes stay in the database. */
const recordFields = {
  event_id: true,
  merchant_id: true,
  status: true,
  cycle: true,
  attempts: true,
  interruptions: true,
  created_at: true,
  last_attempt_at: true,
  next_attempt_at: true,
  delivered_at: true,
  error_category: true,
  event: { select: { payment_id: true } },
} as const;

const stateFields = { ...recordFields, cycle_started_at: true, lease_id: true } as const;

/** Prisma runs on the service's own pool, so reads and writes share one bound on connections. */
export function createQueries(pool: Pool, schema: string): Queries {
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool, { schema }) });
  return {
    async deliveriesOf(merchantId, paymentId) {
      const rows = await prisma.delivery.findMany({
        where: { merchant_id: merchantId, event: { payment_id: paymentId } },
        select: recordFields,
        orderBy: { created_at: 'desc' },
        take: MAX_RECORDS,
      });
      return rows.map((row) => deliveryRecord(withPayment(row)));
    },
    async failedEvents({ merchantId, after }) {
      const failed = { status: 'failed', ...(merchantId !== null && { merchant_id: merchantId }) };
      const rows = await prisma.delivery.findMany({
        where: { ...failed, ...(after !== null && { event_id: { gt: after } }) },
        select: recordFields,
        orderBy: { event_id: 'asc' },
        take: MAX_RECORDS,
      });
      const events = rows.map((row) => ({
        ...deliveryRecord(withPayment(row)),
        merchant_id: row.merchant_id,
        cycle: row.cycle,
        interruptions: row.interruptions,
      }));
      return { events, total: await prisma.delivery.count({ where: failed, take: MAX_COUNTED }) };
    },
    ...eventQueries(prisma),
    async audit(merchantId, before) {
      const rows = await prisma.audit.findMany({
        where: { merchant_id: merchantId, ...(before !== null && { at: { lt: before } }) },
        orderBy: { at: 'desc' },
        take: MAX_RECORDS,
      });
      return rows.map(({ at, action, actor, reason, event_id }) => ({
        at: rfc3339(at),
        action,
        actor,
        reason,
        event_id,
      }));
    },
  };
}

/** What is known of one event, whoever's it is. */
function eventQueries(prisma: PrismaClient): Pick<Queries, 'findEvent' | 'attemptsOf'> {
  return {
    async findEvent(by) {
      const where = 'eventId' in by ? { event_id: by.eventId } : { event: { payment_id: by.paymentId } };
      const row = await prisma.delivery.findFirst({ where, select: stateFields });
      if (row === null) return null;
      return {
        ...deliveryRecord(withPayment(row)),
        merchant_id: row.merchant_id,
        cycle: row.cycle,
        cycle_started_at: rfc3339(row.cycle_started_at),
        interruptions: row.interruptions,
        in_flight: row.lease_id !== null,
      };
    },
    async attemptsOf(eventId, before) {
      const rows = await prisma.attempt.findMany({
        where: { event_id: eventId, ...(before !== null && { started_at: { lt: before } }) },
        orderBy: { started_at: 'desc' },
        take: MAX_RECORDS,
      });
      return rows.map(({ cycle, n, started_at, duration_ms, http_status, error_category, key_id, remote_ip }) => ({
        ...{ cycle, n, started_at: rfc3339(started_at), duration_ms, http_status, error_category, key_id, remote_ip },
      }));
    },
  };
}

function withPayment<R extends Omit<DeliveryRow, 'payment_id'> & { event: { payment_id: string } }>(row: R) {
  return { ...row, payment_id: row.event.payment_id };
}
