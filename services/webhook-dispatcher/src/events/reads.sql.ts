import {
  FAILED_EVENTS_MAX,
  type ArchivedDelivery,
  type RetryRecord,
} from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import type { DeliveryRecord, NoticeType } from '@quittance/contracts/webhook.ts';
import type { Pool, Queryable } from '@quittance/postgres/pool.ts';
import type { PrismaClient } from '../../generated/client.ts';
import { withTextTimes, type WithDates } from '@quittance/runtime/time.ts';
import { lanesOf } from '../lanes/lane.sql.ts';
import { recordColumns, type RecordRow } from './event.sql.ts';

/** Per list. Source: the API contract, "Size and list limits". */
const MAX_RECORDS = 100;

const fields = <Name extends string>(...names: Name[]) =>
  Object.fromEntries(names.map((name) => [name, true])) as Record<Name, true>;

/** The fields of a delivery for operators, without the URL, the body and the key. */
const operatorFields = {
  ...fields('event_id', 'status', 'attempts', 'created_at', 'last_attempt_at', 'next_attempt_at', 'delivered_at'),
  ...fields('error_category', 'cycle', 'interruptions'),
  event: { select: fields('payment_id', 'notice_payment_id', 'event_type', 'merchant_id') },
};
const attemptFields = fields(
  ...(['cycle', 'n', 'started_at', 'duration_ms', 'http_status', 'error_category', 'key_id', 'remote_ip'] as const),
);
const auditFields = fields('at', 'action', 'actor', 'reason', 'event_id', 'events', 'private_target');

/** Typed reads, for merchants and operators. */
export type Queries = ReturnType<typeof createQueries>;

/**
 * Prisma runs on the service's own pool, so reads and writes share one limit of connections. An operator's first read loads it: it takes
 * 20 MB, and merchants must not wait for it.
 */
export function createQueries(pool: Pool, schema: string) {
  let loaded: Promise<PrismaClient> | null = null;
  const prisma = () => (loaded ??= loadPrisma(pool, schema));
  return {
    /** PAID first, then newest first. Empty for a payment without events and for another merchant's payment. */
    async deliveriesOf(merchantId: string, paymentId: string) {
      const { rows } = await pool.query<RecordRow>(
        `select ${recordColumns}
           from event e join delivery d on d.event_id = e.event_id
          where e.merchant_id = $1 and (e.payment_id = $2 or e.notice_payment_id = $2)
          order by e.payment_id is null, d.created_at desc
          limit ${MAX_RECORDS}`,
        [merchantId, paymentId],
      );
      return rows.map(withTextTimes);
    },
    /**
     * Failed events that can be retried, of one merchant or of all: oldest first, beginning after an event if one is given, with the total
     * number up to 100,000.
     */
    async failedEvents({ merchantId, after }: { merchantId: string | null; after: string | null }) {
      const retryable = { status: 'failed', error_category: { not: 'superseded' } };
      const failed = { ...retryable, ...(merchantId !== null && { merchant_id: { in: lanesOf(merchantId) } }) };
      const { delivery } = await prisma();
      const rows = await delivery.findMany({
        where: { ...failed, ...(after !== null && { event_id: { gt: after } }) },
        select: operatorFields,
        orderBy: { event_id: 'asc' },
        take: MAX_RECORDS,
      });
      return {
        events: rows.map(toRecord),
        total: await delivery.count({ where: failed, take: FAILED_EVENTS_MAX }),
      };
    },
    /** Null if there is none. While it is `in_flight`, `next_attempt_at` is when its lease expires. */
    async findEvent(by: { eventId: string; merchantId?: string } | { paymentId: string }) {
      const ofMerchant = 'merchantId' in by && { event: { merchant_id: by.merchantId } };
      const where = 'eventId' in by ? { event_id: by.eventId, ...ofMerchant } : { event: { payment_id: by.paymentId } };
      const select = { ...operatorFields, cycle_started_at: true, lease_id: true } as const;
      const row = await (await prisma()).delivery.findFirst({ where, select });
      if (row === null) return null;
      const { lease_id: leaseId, ...delivery } = row;
      return { ...toRecord(delivery), in_flight: leaseId !== null };
    },
    /** Newest first; only those that started before a time if one is given. */
    async attemptsOf(eventId: string, before: Date | null) {
      const where = { event_id: eventId, ...(before !== null && { started_at: { lt: before } }) };
      const orderBy = { started_at: 'desc' } as const;
      const rows = await (
        await prisma()
      ).attempt.findMany({ where, select: attemptFields, orderBy, take: MAX_RECORDS });
      return rows.map(withTextTimes);
    },
    /** The audit log of a merchant's endpoint, keys and events, newest first; only rows before a time if one is given. */
    async audit(merchantId: string, before: Date | null) {
      const where = { merchant_id: merchantId, ...(before !== null && { at: { lt: before } }) };
      const orderBy = { at: 'desc' } as const;
      const rows = await (await prisma()).audit.findMany({ where, select: auditFields, orderBy, take: MAX_RECORDS });
      return rows.map(withTextTimes);
    },
  };
}

/** The manual retries of an event, newest first. */
export async function readRetries(
  db: Queryable,
  { merchant_id, event_id, created_at }: { merchant_id: string; event_id: string; created_at: string },
): Promise<RetryRecord[]> {
  // The index has the merchant and the time, but not the event.
  const { rows } = await db.query<WithDates<RetryRecord, 'at'>>(
    `select at, action, actor, reason from audit
      where merchant_id = $1 and at >= $3 and event_id = $2 order by at desc limit ${MAX_RECORDS}`,
    [merchant_id, event_id, created_at],
  );
  return rows.map(withTextTimes);
}

/** Every event of these payments, with its body; oldest first. */
export async function readArchivedDeliveries(
  db: Queryable,
  paymentIds: readonly string[],
): Promise<ArchivedDelivery[]> {
  const { rows } = await db.query<RecordRow & { body: string }>(
    `select ${recordColumns}, convert_from(e.body, 'UTF8') as body
       from event e join delivery d on d.event_id = e.event_id
      where e.payment_id = any($1) or e.notice_payment_id = any($1)
      order by e.event_id`,
    [paymentIds],
  );
  return rows.map(withTextTimes);
}

async function loadPrisma(pool: Pool, schema: string): Promise<PrismaClient> {
  const [{ PrismaPg }, { PrismaClient }] = await Promise.all([
    import('@prisma/adapter-pg'),
    import('../../generated/client.ts'),
  ]);
  return new PrismaClient({ adapter: new PrismaPg(pool, { schema }) });
}

type EventColumns = Record<'payment_id' | 'notice_payment_id' | 'event_type', string | null> & { merchant_id: string };

/** The casts are safe: only known types and categories are written, and a check of the table limits `status`. */
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

/** A record for its merchant: a blocked address looks like an unknown name. See merchantErrorCategories. */
export const asMerchantsSee = <T extends { error_category: string | null }>(record: T): T =>
  record.error_category === 'blocked_address' ? { ...record, error_category: 'dns_error' } : record;
