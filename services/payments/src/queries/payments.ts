import { PrismaPg } from '@prisma/adapter-pg';
import type { Cursor } from '@quittance/contracts/payment-cursor.ts';
import type { PaymentStatus } from '@quittance/contracts/payment.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { type Payment, type Prisma, PrismaClient, type Transfer } from '../../generated/client.ts';

/** The operator sees at most this many unmatched transfers, and incidents, of one payment. */
const MAX_ROWS = 100;

export type ListFilter = {
  status: PaymentStatus | null;
  /** Created at or after this. */
  createdFrom: Date | null;
  /** Created before this. */
  createdTo: Date | null;
  /** The last payment of the page before. */
  after: Cursor | null;
  limit: number;
};

const isByHand = { select: { acceptance_id: true } } as const;

/** The filter that leaves nothing out. */
export const anything: ListFilter = { status: null, createdFrom: null, createdTo: null, after: null, limit: 1 };

export type { Transfer };
export type Queries = ReturnType<typeof createQueries>;

/** Typed reads. Prisma runs on the service's own pool, so reads and writes share one bound on connections. */
export function createQueries({ pool, schema }: { pool: Pool; schema: string }) {
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool, { schema }) });
  return {
    /** A merchant's payments, each with the transfer that pays it, newest first. `next` is null on the last page. */
    async list(merchantId: string, filter: ListFilter) {
      const rows = await prisma.payment.findMany({
        where: { merchant_id: merchantId, ...toWhere(filter) },
        include: { transfer: true, acceptance: isByHand },
        orderBy: [{ created_at: 'desc' }, { payment_id: 'desc' }],
        // One more than asked for shows whether there is a next page.
        take: filter.limit + 1,
      });
      const payments = rows.slice(0, filter.limit);
      const last = payments.at(-1);
      const hasNext = rows.length > payments.length && last !== undefined;
      const next: Cursor | null = hasNext ? { createdAt: last.created_at, paymentId: last.payment_id } : null;
      return { payments, next };
    },
    /** The database's clock. */
    async databaseTime(): Promise<Date> {
      const [row] = await prisma.$queryRaw<{ now: Date }[]>`select now()`;
      if (row === undefined) throw new Error('the database returned no time');
      return row.now;
    },
    /** A payment of any merchant, with its transfer and its newest incidents. */
    find: (paymentId: string) =>
      prisma.payment.findUnique({
        where: { payment_id: paymentId },
        include: {
          transfer: true,
          acceptance: isByHand,
          incidents: { orderBy: { opened_at: 'desc' }, take: MAX_ROWS },
        },
      }),
    /** Transfers that pay nothing, as findUnmatched() of payment-views.ts finds them for the merchant; newest first. */
    listUnmatched: (
      { payment_id, merchant_id, network, recipient }: Payment,
      { start, end }: { start: Date; end: Date },
    ) =>
      prisma.transfer.findMany({
        where: {
          match_status: { in: ['pending', 'unmatched'] },
          OR: [
            { related_payment_id: payment_id },
            {
              network,
              recipient,
              block_timestamp: { gte: start, lt: end },
              OR: [{ related_payment: { merchant_id } }, { related_payment_id: null, merchant_id }],
            },
          ],
        },
        orderBy: [{ block_timestamp: 'desc' }, { transaction_id: 'asc' }, { transaction_event_index: 'asc' }],
        take: MAX_ROWS,
      }),
  };
}

/**
 * Keyset, not offset: page N costs what page 1 costs, and a payment created meanwhile shifts nothing.
 * `lte` beside the exact comparison gives the index its range.
 */
function toWhere({ status, createdFrom, createdTo, after }: ListFilter): Prisma.PaymentWhereInput {
  return {
    ...(status !== null && { status }),
    AND: [
      ...(createdFrom === null ? [] : [{ created_at: { gte: createdFrom } }]),
      ...(createdTo === null ? [] : [{ created_at: { lt: createdTo } }]),
      ...(after === null ? [] : [{ created_at: { lte: after.createdAt } }]),
    ],
    ...(after !== null && {
      OR: [
        { created_at: { lt: after.createdAt } },
        { created_at: after.createdAt, payment_id: { lt: after.paymentId } },
      ],
    }),
  };
}
