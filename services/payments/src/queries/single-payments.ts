import type { UnmatchedTransfer } from '@quittance/contracts/payment.ts';
import type {
  DetailsAnswer,
  OwnPayment,
  PublicPaymentsAnswer,
  SeenConfirmations,
} from '@quittance/contracts/payment-views.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import type { ReadTips } from '../chain-tips.ts';
import { type LedgerTransfer, type NoTransfer, withConfirmationsSoFar } from '../confirmations.ts';
import { toPayment, toPublicPayment, type PaymentSource, type TransferSource } from '../payment-json.ts';
import { toUnmatched, UNMATCHED_MAX, type IdleTransfer } from '../unmatched.ts';
import { windowOf } from '../windows.ts';

/*
 * The two reads that customers' browsers and merchants' backends repeat all the time. Many go together into one statement, which
 * Prisma could not be told, and pg runs it, because here each microsecond is spent thousands of times.
 */

/** @returns those of the payments that exist and are that merchant's, in no particular order. */
export async function readDetails(
  { db, readTips }: Sources,
  asked: readonly OwnPayment[],
  publicBaseUrl: string,
): Promise<DetailsAnswer['found']> {
  const { rows } = await db.query<PaymentRow & PayingTransfer>({
    name: 'read-details',
    text: `
      select p.merchant_id, p.amount_units, ${paymentColumns}, t.transaction_event_index, ${transferColumns}
      from unnest($1::text[], $2::text[]) as a (merchant_id, payment_id)
        join payment p on p.payment_id = a.payment_id and p.merchant_id = a.merchant_id
        left join transfer t on t.payment_id = p.payment_id`,
    values: [asked.map(({ merchant_id }) => merchant_id), asked.map(({ payment_id }) => payment_id)],
  });
  const [current, unmatched] = await Promise.all([withConfirmationsSoFar(rows, readTips), readUnmatched(db, rows)]);
  return current.map((row) => ({
    merchant_id: row.merchant_id,
    payment: {
      ...toPayment(row, row.transaction_id === null ? null : row, publicBaseUrl),
      unmatched_transfers: unmatched.get(row.payment_id) ?? [],
    },
  }));
}

/**
 * A payment without a transfer to show gives the index no key, so that no page of it is read: most views are of those that wait.
 * @param tokensSha256 SHA-256 of public tokens, in hex.
 * @returns those that exist, in no particular order.
 */
export async function readPublicPayments(
  { db, readTips }: Sources,
  tokensSha256: readonly string[],
): Promise<PublicPaymentsAnswer['found']> {
  const { rows } = await db.query<PaymentSource & ShownTransfer & { asked: string }>({
    name: 'read-public-payments',
    text: `
      select a.token_sha256 as asked, ${paymentColumns}, ${transferColumns}
      from unnest($1::text[]) as a (token_sha256)
        join payment p on p.token_sha256 = decode(a.token_sha256, 'hex')
        left join transfer t on t.payment_id = case when p.status in ('CHECKING', 'PAID') then p.payment_id end`,
    values: [tokensSha256],
  });
  return (await withConfirmationsSoFar(rows, readTips)).map((row) => ({
    token_sha256: row.asked,
    payment: toPublicPayment(row, row.transaction_id),
    confirmations: row.status === 'CHECKING' && row.transaction_id !== null ? toSeen(row) : null,
    server_time: rfc3339(row.read_at),
  }));
}

const toSeen = (transfer: LedgerTransfer): SeenConfirmations => ({
  seen: Math.min(transfer.confirmations, transfer.confirmations_required),
  required: transfer.confirmations_required,
});

/**
 * Transfers that pay nothing: those meant for a payment, and all that reached its wallet while it waited. By payment, newest first.
 * Each of the two kinds is read from an index that has it in this order, so that a wallet with thousands of small transfers costs
 * no more than one with a hundred.
 */
async function readUnmatched(
  db: Queryable,
  payments: readonly PaymentRow[],
): Promise<Map<string, UnmatchedTransfer[]>> {
  if (payments.length === 0) return new Map();
  const windows = payments.map(windowOf);
  const { rows } = await db.query<Omit<IdleTransfer, 'tokenUnits'> & { asked: string; amount_units: string }>({
    name: 'read-unmatched',
    text: `
      select a.payment_id as asked, t.transaction_id, t.transaction_event_index, t.amount_units, t.decimals,
             t.block_timestamp, t.related_payment_id, t.reason
      from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[])
          as a (payment_id, network, recipient, begins, ends)
        cross join lateral (
          select * from (
            (select * from transfer
              where related_payment_id = a.payment_id and payment_id is null and phase <> 'retracted'
              order by block_timestamp desc limit ${UNMATCHED_MAX})
            union
            (select * from transfer
              where network = a.network and recipient = a.recipient and payment_id is null and phase <> 'retracted'
                and block_timestamp >= a.begins and block_timestamp < a.ends
              order by block_timestamp desc limit ${UNMATCHED_MAX})
          ) either
          order by block_timestamp desc, transaction_id, transaction_event_index
          limit ${UNMATCHED_MAX}
        ) t`,
    values: [
      payments.map(({ payment_id }) => payment_id),
      payments.map(({ network }) => network),
      payments.map(({ recipient }) => recipient),
      windows.map(({ begins }) => begins),
      windows.map(({ ends }) => ends),
    ],
  });
  const byId = new Map(payments.map((payment) => [payment.payment_id, payment]));
  const found = new Map<string, UnmatchedTransfer[]>();
  for (const { asked, amount_units: amountUnits, ...row } of rows) {
    const payment = byId.get(asked);
    const transfer = payment && toUnmatched(payment, { ...row, tokenUnits: BigInt(amountUnits) });
    if (transfer) found.set(asked, [...(found.get(asked) ?? []), transfer]);
  }
  return found;
}

const paymentColumns = `p.payment_id, p.public_token, p.status, p.network, p.recipient, p.amount, p.description,
  p.created_at, p.expires_at, p.paid_at, p.cancelled_at`;

/** The paying transfer's, and the moment of the statement: the clock by which payments are over. */
const transferColumns = `t.transaction_id, t.block_number, t.confirmations, t.confirmations_required, t.observed_at, now() as read_at`;

type PaymentRow = PaymentSource & { merchant_id: string; amount_units: bigint };

type ShownTransfer = { read_at: Date } & (LedgerTransfer | NoTransfer);
type PayingTransfer = { read_at: Date } & ((LedgerTransfer & TransferSource) | NoTransfer);

type Sources = { db: Queryable; readTips: ReadTips };
