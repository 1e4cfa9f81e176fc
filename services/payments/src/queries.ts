import { PrismaPg } from '@prisma/adapter-pg';
import { formatUnits, toTokenUnits } from '@quittance/contracts/amount.ts';
import type {
  Payment,
  PaymentDetails,
  PaymentStatus,
  PublicPayment,
  UnmatchedReason,
  UnmatchedTransfer,
} from '@quittance/contracts/payment.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { type Payment as PaymentRow, type Prisma, PrismaClient, type Transfer } from '../generated/client.ts';
import type { Cursor } from './cursor.ts';
import { toPayment, toPublicPayment } from './payment-json.ts';
import { unmatchedReason, windowOf } from './windows.ts';

/** A detailed payment, and what the operator sees of it, show at most this many transfers and incidents. */
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

/** Typed reads. What they answer is what goes over the wire. */
export type Queries = {
  /** Newest first. `next` is null on the last page. */
  list(merchantId: string, filter: ListFilter): Promise<{ payments: Payment[]; next: Cursor | null }>;
  /** Null when the merchant has no such payment. */
  details(merchantId: string, paymentId: string): Promise<PaymentDetails | null>;
  byToken(tokenSha256: Buffer): Promise<PublicPayment | null>;
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
    async details(merchantId, paymentId) {
      const row = await prisma.payment.findUnique({
        where: { payment_id: paymentId, merchant_id: merchantId },
        include: { transfer: true },
      });
      if (row === null) return null;
      const unmatched = await prisma.transfer.findMany(unmatchedTransfers(row));
      return {
        ...toPayment(row, row.transfer, publicBaseUrl),
        unmatched_transfers: unmatched.flatMap((transfer) => toUnmatched(row, transfer)),
      };
    },
    async byToken(tokenSha256) {
      const row = await prisma.payment.findUnique({ where: { token_sha256: new Uint8Array(tokenSha256) } });
      if (row === null) return null;
      // Most polls come before the money: they cost one look-up.
      const transfer =
        row.status === 'PAID' ? await prisma.transfer.findUnique({ where: { payment_id: row.payment_id } }) : null;
      return toPublicPayment(row, transfer);
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

/** @returns none for a transfer that may still pay this payment, or whose amount made it another payment's affair. */
function toUnmatched(payment: PaymentRow, transfer: Transfer): UnmatchedTransfer[] {
  const reason = reasonFor(payment, transfer);
  if (reason === null) return [];
  return [
    {
      transaction_id: transfer.transaction_id,
      transaction_event_index: transfer.transaction_event_index,
      amount: formatUnits(unitsOf(transfer), transfer.decimals),
      block_timestamp: rfc3339(transfer.block_timestamp),
      reason,
    },
  ];
}

function reasonFor(payment: PaymentRow, transfer: Transfer): UnmatchedReason | null {
  if (transfer.related_payment_id === payment.payment_id) return transfer.reason as UnmatchedReason | null;
  const tokenUnits = toTokenUnits(payment.amount_units, transfer.decimals);
  if (tokenUnits === unitsOf(transfer)) return null;
  return unmatchedReason(
    { ...payment, tokenUnits },
    { tokenUnits: unitsOf(transfer), blockTime: transfer.block_timestamp },
  );
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
