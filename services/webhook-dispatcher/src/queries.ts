import { PrismaPg } from '@prisma/adapter-pg';
import { FAILED_EVENTS_MAX } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import type { DeliveryRecord, NoticeType } from '@quittance/contracts/webhook.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { PrismaClient } from '../generated/client.ts';
import { withTextTimes } from '@quittance/runtime/time.ts';
import { lanesOf } from './store/lane.ts';

/** Lists answer at most this many records. Source: the API contract, "Size and list limits". */
const MAX_RECORDS = 100;

/** What a merchant reads of a delivery: never the URL, the body or a key. */
const recordFields = {
  event_id: true,
  event: { select: { payment_id: true, notice_payment_id: true, event_type: true, merchant_id: true } },
  status: true,
  attempts: true,
  created_at: true,
  last_attempt_at: true,
  next_attempt_at: true,
  delivered_at: true,
  error_category: true,
} as const;

/** What an operator reads of it as well. */
const operatorFields = { ...recordFields, cycle: true, interruptions: true } as const;

const attemptFields = {
  cycle: true,
  n: true,
  started_at: true,
  duration_ms: true,
  http_status: true,
  error_category: true,
  key_id: true,
  remote_ip: true,
} as const;

const auditFields = { at: true, action: true, actor: true, reason: true, event_id: true, events: true } as const;

/** Typed reads, for the merchant's diagnosis and for operators. */
export type Queries = ReturnType<typeof createQueries>;

/** Prisma runs on the service's own pool, so reads and writes share one limit of connections. */
export function createQueries(pool: Pool, schema: string) {
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool, { schema }) });
  return {
    /** PAID first, then newest first; empty for a payment without an event and for another merchant's payment alike. */
    async deliveriesOf(merchantId: string, paymentId: string) {
      const [paid, notices] = await Promise.all(
        [{ payment_id: paymentId }, { notice_payment_id: paymentId }].map((event) =>
          prisma.delivery.findMany({
            where: { event: { merchant_id: merchantId, ...event } },
            select: recordFields,
            orderBy: { created_at: 'desc' },
            take: MAX_RECORDS,
          }),
        ),
      );
      return [...(paid ?? []), ...(notices ?? [])].slice(0, MAX_RECORDS).map(toMerchantRecord);
    },
    /** Oldest first, those after an event if one is given, and the number of all up to 100,000; of one merchant or of all. */
    async failedEvents({ merchantId, after }: { merchantId: string | null; after: string | null }) {
      const failed = { status: 'failed', ...(merchantId !== null && { merchant_id: { in: lanesOf(merchantId) } }) };
      const rows = await prisma.delivery.findMany({
        where: { ...failed, ...(after !== null && { event_id: { gt: after } }) },
        select: operatorFields,
        orderBy: { event_id: 'asc' },
        take: MAX_RECORDS,
      });
      return {
        events: rows.map(toRecord),
        total: await prisma.delivery.count({ where: failed, take: FAILED_EVENTS_MAX }),
      };
    },
    /** While it is `in_flight`, `next_attempt_at` is when its lease lapses. Null when there is none. */
    async findEvent(by: { eventId: string } | { paymentId: string }) {
      const where = 'eventId' in by ? { event_id: by.eventId } : { event: { payment_id: by.paymentId } };
      const select = { ...operatorFields, cycle_started_at: true, lease_id: true } as const;
      const row = await prisma.delivery.findFirst({ where, select });
      if (row === null) return null;
      const { lease_id: leaseId, ...delivery } = row;
      return { ...toRecord(delivery), in_flight: leaseId !== null };
    },
    /** Newest first; those that started before a time if one is given. */
    async attemptsOf(eventId: string, before: Date | null) {
      const where = { event_id: eventId, ...(before !== null && { started_at: { lt: before } }) };
      const orderBy = { started_at: 'desc' } as const;
      const rows = await prisma.attempt.findMany({ where, select: attemptFields, orderBy, take: MAX_RECORDS });
      return rows.map(withTextTimes);
    },
    /** What was done to a merchant's endpoint, keys and events, newest first; those before a time if one is given. */
    async audit(merchantId: string, before: Date | null) {
      const where = { merchant_id: merchantId, ...(before !== null && { at: { lt: before } }) };
      const orderBy = { at: 'desc' } as const;
      const rows = await prisma.audit.findMany({ where, select: auditFields, orderBy, take: MAX_RECORDS });
      return rows.map(withTextTimes);
    },
  };
}

type EventColumns = {
  payment_id: string | null;
  notice_payment_id: string | null;
  event_type: string | null;
  merchant_id: string;
};

/** Only known types and categories are written, and the table's checks hold the words of `status`. */
function toRecord<R extends { event_id: string; event: EventColumns; status: string }>(row: R) {
  const { event_id, event, ...others } = row;
  const { payment_id, notice_payment_id, event_type, merchant_id } = event;
  const record = withTextTimes({
    event_id,
    payment_id: payment_id ?? notice_payment_id,
    event_type: event_type as NoticeType | null,
    merchant_id,
    ...others,
  });
  return record as typeof record & Pick<DeliveryRecord, 'status' | 'error_category'>;
}

function toMerchantRecord(row: Parameters<typeof toRecord>[0]): DeliveryRecord {
  const { merchant_id: _merchantId, ...record } = toRecord(row);
  return record as DeliveryRecord;
}
