import type { PaymentMetadata, PaymentStatus } from '@quittance/contracts/payment.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { statusesBefore } from '../state.ts';
import { isChosenSql } from './gate.ts';
import { lostFromSql } from './wallet.ts';

/** A row of `payment`, without what only indexes and loops look at. */
export type PaymentRow = {
  payment_id: string;
  merchant_id: string;
  public_token: string;
  status: PaymentStatus;
  network: string;
  /** Canonical address. */
  recipient: string;
  /** What the transfer has to carry: the merchant's own text, or a unique amount near it. */
  amount: string;
  /** Millionths of a USDT. */
  amount_units: bigint;
  description: string;
  created_at: Date;
  expires_at: Date;
  paid_at: Date | null;
  cancelled_at: Date | null;
  order_id: string | null;
  metadata: PaymentMetadata | null;
  return_url: string | null;
  /** The merchant's own text where `amount` is a unique one, else null. */
  requested_amount: string | null;
};

/** A payment in its new status, and whether its merchant chose to be told of that by a notice. */
export type MovedPayment = PaymentRow & { is_chosen: boolean };

/** Only one unfinished payment may wait for an amount on an address. */
export type Slot = { network: string; recipient: string; amountUnits: bigint };

export const paymentColumns = `payment_id, merchant_id, public_token, status, network, recipient, amount, amount_units, description,
  created_at, expires_at, paid_at, cancelled_at, order_id, metadata, return_url, requested_amount`;

/** As isUnfinished() of state.ts, spelled as in the partial indexes, which serve no other spelling. */
export const isUnfinishedSql = `status in ('PENDING', 'CHECKING')`;

/**
 * Cancels a payment of this merchant that is still PENDING. The status guard decides a race between a cancel and a transfer.
 * @returns null when it is another merchant's, unknown, or no longer PENDING.
 */
export async function cancelPayment(
  db: Queryable,
  merchantId: string,
  paymentId: string,
): Promise<MovedPayment | null> {
  const { rows } = await db.query<MovedPayment>(
    `update payment set status = 'CANCELLED', cancelled_at = date_trunc('milliseconds', clock_timestamp())
      where payment_id = $1 and merchant_id = $2 and status = any($3)
      returning ${paymentColumns}, ${isChosenSql('CANCELLED')} as is_chosen`,
    [paymentId, merchantId, statusesBefore('CANCELLED')],
  );
  return rows[0] ?? null;
}

/** @returns the payments in their new status, without those whose status does not allow that. */
export async function movePayments(
  tx: Transaction,
  paymentIds: readonly string[],
  to: 'PENDING' | 'CHECKING' | 'PAID',
): Promise<MovedPayment[]> {
  // PAID is told whatever the merchant chose; that it waits again, to nobody.
  const isChosen = to === 'CHECKING' ? isChosenSql('CHECKING') : 'false';
  const { rows } = await tx.query<MovedPayment>(
    `update payment
        set status = $2, paid_at = case when $2 = 'PAID' then date_trunc('milliseconds', clock_timestamp()) end
      where payment_id = any($1) and status = any($3)
      returning ${paymentColumns}, ${isChosen} as is_chosen`,
    [paymentIds, to, statusesBefore(to)],
  );
  return rows;
}

/** @param lock keeps the row as it is until the transaction ends. */
export async function findPayment(
  db: Queryable,
  paymentId: string,
  lock: 'for update' | '' = '',
): Promise<PaymentRow | null> {
  const { rows } = await db.query<PaymentRow>(`select ${paymentColumns} from payment where payment_id = $1 ${lock}`, [
    paymentId,
  ]);
  return rows[0] ?? null;
}

/** Whether blocks concern a payment at all: from `lost_from` on, its wallet is proven to be another merchant's. */
export type Ownership = { payment_id: string; lost_from: Date | null };

/** A payment that a slot's search found. */
export type FoundInSlot = Ownership & Pick<PaymentRow, 'network' | 'recipient' | 'amount_units'>;

/** Where a block looks for its payments: in a slot, the last one started by then, and the first one created soon after. */
export type SlotSearch = Slot & { startedBefore: Date; createdBefore: Date };

/**
 * Finds the payments that blocks can concern, at most two for each search. Older ones ended where a newer one started. Two index
 * look-ups a search, however many payments the slot has had.
 */
export async function findSlotPayments(db: Queryable, searches: readonly SlotSearch[]): Promise<FoundInSlot[]> {
  const { rows } = await db.query<FoundInSlot>({
    name: 'find-slot-payments',
    text: `
      select distinct found.payment_id, slot.network, slot.recipient, slot.amount_units, ${lostFromSql('found')} as lost_from
        from unnest($1::text[], $2::text[], $3::bigint[], $4::timestamptz[], $5::timestamptz[])
               as slot (network, recipient, amount_units, started_before, created_before),
        lateral (
         (select payment_id, merchant_id, recipient from payment
           where network = slot.network and recipient = slot.recipient and amount_units = slot.amount_units
             and created_at < slot.started_before
           order by created_at desc limit 1)
         union all
         (select payment_id, merchant_id, recipient from payment
           where network = slot.network and recipient = slot.recipient and amount_units = slot.amount_units
             and created_at >= slot.started_before and created_at < slot.created_before
           order by created_at limit 1)) as found`,
    values: [
      searches.map(({ network }) => network),
      searches.map(({ recipient }) => recipient),
      searches.map(({ amountUnits }) => amountUnits),
      searches.map(({ startedBefore }) => startedBefore),
      searches.map(({ createdBefore }) => createdBefore),
    ],
  });
  return rows;
}

/**
 * Keeps payments as they are until the transaction ends.
 * @param busy what becomes of those that another transaction has locked.
 * @returns them as they are now, oldest first.
 */
export async function lockPayments(
  tx: Transaction,
  paymentIds: readonly string[],
  busy: 'wait' | 'skip',
): Promise<PaymentRow[]> {
  const { rows } = await tx.query<PaymentRow>({
    name: `lock-payments-${busy}`,
    text: `
      select ${paymentColumns} from payment where payment_id = any($1)
       order by created_at, payment_id
         for update ${busy === 'skip' ? 'skip locked' : ''}`,
    values: [paymentIds],
  });
  return rows;
}

/** @returns those of the payments that are here, locked or not. The others are in the archive. */
export async function findPresent(tx: Transaction, paymentIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await tx.query<{ payment_id: string }>('select payment_id from payment where payment_id = any($1)', [
    paymentIds,
  ]);
  return new Set(rows.map((row) => row.payment_id));
}

/** Among this many payments on its wallet a transfer that fits none exactly finds the one that it was probably meant for. */
const PAYMENTS_SEARCHED = 50;

/**
 * Looks for the payments that a transfer may have been meant for, of any amount and, where merchants share a wallet, of any merchant.
 * @returns the newest on its wallet created before the given time, newest first; where there is none, the first one created after.
 */
export async function findPaymentsOnWallet(
  db: Queryable,
  wallet: { network: string; recipient: string },
  createdBefore: Date,
): Promise<(PaymentRow & Ownership)[]> {
  const { rows } = await db.query<PaymentRow & Ownership>(
    `with earlier as (
       select ${paymentColumns}, ${lostFromSql('payment')} as lost_from from payment
        where network = $1 and recipient = $2 and created_at < $3
        order by created_at desc, payment_id desc limit ${PAYMENTS_SEARCHED})
     select * from earlier
     union all
     (select ${paymentColumns}, ${lostFromSql('payment')} as lost_from from payment
       where network = $1 and recipient = $2 and created_at >= $3 and not exists (select from earlier)
       order by created_at, payment_id limit 1)`,
    [wallet.network, wallet.recipient, createdBefore],
  );
  return rows;
}
