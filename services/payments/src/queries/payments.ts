import { PrismaPg } from '@prisma/adapter-pg';
import type { Pool } from '@quittance/postgres/pool.ts';
import { type Payment, PrismaClient, type Transfer } from '../../generated/client.ts';

/** The operator sees at most this many unmatched transfers, and incidents, of one payment. */
const MAX_ROWS = 100;

export type { Transfer };
export type Queries = ReturnType<typeof createQueries>;

/** Typed reads. Prisma runs on the service's own pool, so reads and writes share one bound on connections. */
export function createQueries({ pool, schema }: { pool: Pool; schema: string }) {
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool, { schema }) });
  return {
    /** A payment of any merchant, with its transfer and its newest incidents. */
    find: (paymentId: string) =>
      prisma.payment.findUnique({
        where: { payment_id: paymentId },
        include: { transfer: true, incidents: { orderBy: { opened_at: 'desc' }, take: MAX_ROWS } },
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
