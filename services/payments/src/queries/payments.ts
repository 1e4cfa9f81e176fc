import { PrismaPg } from '@prisma/adapter-pg';
import { formatUnits } from '@quittance/contracts/amount.ts';
import type { Cursor } from '@quittance/contracts/payment-cursor.ts';
import type { Payment, PaymentStatus } from '@quittance/contracts/payment.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { type Payment as PaymentRow, type Prisma, PrismaClient, type Transfer } from '../../generated/client.ts';
import { toPayment } from '../payment-json.ts';
import { windowOf } from '../windows.ts';

/** The operator sees at most this many transfers, and incidents, of one payment. */
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

/** The filter that leaves nothing out. */
export const anything: ListFilter = { status: null, createdFrom: null, createdTo: null, after: null, limit: 1 };

/** Typed reads. What they answer is what goes over the wire. */
export type Queries = {
  /** Newest first. `next` is null on the last page. */
  list(merchantId: string, filter: ListFilter): Promise<{ payments: Payment[]; next: Cursor | null }>;
  /** Everything there is, whoever it belongs to. */
  forOperator(paymentId: string): Promise<object | null>;
};

/** Prisma runs on the service's own pool, so reads and writes share one bound on connections. */
export function createQueries({
  pool,
  schema,
  publicBaseUrl,
}: {
  pool: Pool;
  schema: string;
  publicBaseUrl: string;
}): Queries {
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool, { schema }) });
  return {
    async list(merchantId, filter) {
      const rows = await prisma.payment.findMany({
        where: { merchant_id: merchantId, ...toWhere(filter) },
        include: { transfer: true },
        orderBy: [{ created_at: 'desc' }, { payment_id: 'desc' }],
        // One more than asked for tells whether there is a next page.
        take: filter.limit + 1,
      });
      const page = rows.slice(0, filter.limit);
      const last = page.at(-1);
      return {
        payments: page.map((row) => toPayment(row, row.transfer, publicBaseUrl)),
        next: rows.length > page.length && last !== undefined ? cursorOf(last) : null,
      };
    },
    async forOperator(paymentId) {
      const row = await prisma.payment.findUnique({
        where: { payment_id: paymentId },
        include: { transfer: true, incidents: { orderBy: { opened_at: 'desc' }, take: MAX_ROWS } },
      });
      if (row === null) return null;
      const unmatched = await prisma.transfer.findMany(unmatchedTransfers(row));
      return {
        ...toPayment(row, row.transfer, publicBaseUrl),
        merchant_id: row.merchant_id,
        transfers: [...(row.transfer === null ? [] : [row.transfer]), ...unmatched].map(toLedgerEntry),
        incidents: row.incidents,
      };
    },
  };
}

/**
 * Keyset, not offset: page N costs what page 1 costs, and a payment created meanwhile shifts nothing.
 * `lte` beside the exact comparison gives the index its range.
 */
function toWhere({ status, createdFrom, createdTo, after }: ListFilter): Prisma.PaymentWhereInput {
  const createdAt = [
    ...(createdFrom === null ? [] : [{ created_at: { gte: createdFrom } }]),
    ...(createdTo === null ? [] : [{ created_at: { lt: createdTo } }]),
    ...(after === null ? [] : [{ created_at: { lte: after.createdAt } }]),
  ];
  return {
    ...(status !== null && { status }),
    AND: createdAt,
    ...(after !== null && {
      OR: [
        { created_at: { lt: after.createdAt } },
        { created_at: after.createdAt, payment_id: { lt: after.paymentId } },
      ],
    }),
  };
}

const cursorOf = (row: PaymentRow): Cursor => ({ createdAt: row.created_at, paymentId: row.payment_id });

/** Transfers that pay nothing: those meant for this payment, and all that reached its wallet while it waited. */
function unmatchedTransfers(payment: PaymentRow) {
  const { begins, ends } = windowOf(payment);
  const { network, recipient } = payment;
  return {
    where: {
      payment_id: null,
      phase: { not: 'retracted' },
      OR: [
        { related_payment_id: payment.payment_id },
        { network, recipient, block_timestamp: { gte: begins, lt: ends } },
      ],
    },
    orderBy: [{ block_timestamp: 'desc' }, { transaction_id: 'asc' }, { transaction_event_index: 'asc' }],
    take: MAX_ROWS,
  } satisfies Prisma.TransferFindManyArgs;
}

const unitsOf = (transfer: Transfer): bigint => BigInt(transfer.amount_units.toFixed());

/** The whole row in JSON's types, and the amount once more for people. */
const toLedgerEntry = (transfer: Transfer): object => ({
  ...transfer,
  version: Number(transfer.version),
  block_number: Number(transfer.block_number),
  amount_units: transfer.amount_units.toFixed(),
  amount: formatUnits(unitsOf(transfer), transfer.decimals),
});
