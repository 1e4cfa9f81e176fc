import type { Pool } from '@quittance/postgres/pool.ts';
import type { Payment, PrismaClient, Transfer } from '../../generated/client.ts';

/** The operator sees at most this many unmatched transfers, and incidents, of one payment. */
const MAX_ROWS = 100;

export type { Payment, Transfer };
export type Queries = ReturnType<typeof createQueries>;

/**
 * Typed reads for operators. Prisma runs on the service's own pool, so reads and writes share one limit on connections. The first read
 * loads it, because it takes 20 MB.
 */
export function createQueries({ pool, schema }: { pool: Pool; schema: string }) {
  let loaded: Promise<PrismaClient> | null = null;
  const prisma = () => (loaded ??= loadPrisma(pool, schema));
  return {
    /** A payment of any merchant, with its transfer and its newest incidents. */
    find: async (paymentId: string) =>
      (await prisma()).payment.findUnique({
        where: { payment_id: paymentId },
        include: { transfer: true, incidents: { orderBy: { opened_at: 'desc' }, take: MAX_ROWS } },
      }),
    /** Transfers that may be for a payment and do not pay it, newest first. */
    listUnmatched: async ({ payment_id }: Payment) =>
      (await prisma()).transfer.findMany({
        where: {
          match_status: { in: ['pending', 'unmatched'] },
          OR: [{ related_payment_id: payment_id }, { candidates: { has: payment_id } }],
        },
        orderBy: [{ block_timestamp: 'desc' }, { transaction_id: 'asc' }, { transaction_event_index: 'asc' }],
        take: MAX_ROWS,
      }),
  };
}

async function loadPrisma(pool: Pool, schema: string): Promise<PrismaClient> {
  const [{ PrismaPg }, { PrismaClient }] = await Promise.all([
    import('@prisma/adapter-pg'),
    import('../../generated/client.ts'),
  ]);
  return new PrismaClient({ adapter: new PrismaPg(pool, { schema }) });
}
