import type { PaymentStatus } from '@quittance/contracts/api/payment.ts';
import { keptNames, type KeptValues, optionParts } from '@quittance/contracts/api/creation.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { statusesBefore } from './state.ts';
import { isChosenSql } from '../gate/gate.sql.ts';
import type { Rate } from '@quittance/contracts/rates.ts';
import { lostFromSql } from '../wallets/wallet.sql.ts';
import type { Author } from '@quittance/contracts/author.ts';
import type { Cancellation } from '@quittance/contracts/http/payments/payments.ts';
import type { WithDates } from '@quittance/runtime/time.ts';

/** A row of `payment`, without the columns that only indexes and loops use. */
export type PaymentRow = KeptValues & {
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
  /** The merchant's own text when `amount` is a unique one, else null. */
  requested_amount: string | null;
  /** For how long its address stays its own after its end; null for a payment that shares its address. */
  rest_seconds: number | null;
  /** When its merchant ended that rest early. */
  released_at: Date | null;
  /** Which child of its pool's extended key the address is. */
  derivation_index: number | null;
  /** The rate that converted its price. */
  rate: Rate | null;
};

/** A payment in its new status, and whether its merchant subscribes to notices of that status. */
export type MovedPayment = PaymentRow & { is_chosen: boolean };

/** Only one unfinished payment may wait for an amount on an address. */
export type Slot = { network: string; recipient: string; amountUnits: bigint };

/** The columns of a PaymentRow with the types that a creation writes. */
export const paymentColumnTypes = {
  payment_id: 'text',
  merchant_id: 'text',
  public_token: 'text',
  status: 'text',
  network: 'text',
  recipient: 'text',
  amount: 'text',
  amount_units: 'bigint',
  description: 'text',
  created_at: 'timestamptz',
  expires_at: 'timestamptz',
  paid_at: 'timestamptz',
  cancelled_at: 'timestamptz',
  ...optionParts(keptNames, 'column'),
  requested_amount: 'text',
  rest_seconds: 'integer',
  released_at: 'timestamptz',
  derivation_index: 'integer',
  rate: 'jsonb',
} as const satisfies Record<keyof PaymentRow, string>;

export const paymentColumns = Object.keys(paymentColumnTypes).join(', ');

/** isUnfinished() of state.ts, written as in the partial indexes, which match no other form. */
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
    `update payment set status = 'CANCELLED', cancelled_at = greatest(created_at, date_trunc('milliseconds', clock_timestamp()))
      where payment_id = $1 and merchant_id = $2 and status = any($3)
      returning ${paymentColumns}, ${isChosenSql('CANCELLED')} as is_chosen`,
    [paymentId, merchantId, statusesBefore('CANCELLED')],
  );
  return rows[0] ?? null;
}

/** @returns the wallet of a payment that is unfinished; null for any other. */
export async function findUnfinishedWallet(
  db: Queryable,
  paymentId: string,
): Promise<{ network: string; recipient: string } | null> {
  const { rows } = await db.query<{ network: string; recipient: string }>(
    `select network, recipient from payment where payment_id = $1 and ${isUnfinishedSql}`,
    [paymentId],
  );
  return rows[0] ?? null;
}

/** @returns the payments in their new status, without those that may not move to it. */
export async function movePayments(
  tx: Transaction,
  paymentIds: readonly string[],
  to: 'PENDING' | 'CHECKING' | 'PAID',
): Promise<MovedPayment[]> {
  // PAID is always notified; a return to PENDING never is.
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

/** Whether blocks concern a payment at all: from `lost_from` on, its wallet is proven to belong to another merchant. */
export type Ownership = { payment_id: string; lost_from: Date | null };

/** A payment that a slot search found. */
export type FoundInSlot = Ownership & Pick<PaymentRow, 'network' | 'recipient' | 'amount_units'>;

/**
 * Where a transfer looks for its payments: in a slot, those that can have begun before its interval ended (`createdBefore`). Among those
 * that began before the interval started, and before the transfer was first read (`startedBefore`), the last one can claim it. The transfer
 * may also be meant for the payment before that one, and for any that ended within the hour before.
 */
export type SlotSearch = Slot & { startedBefore: Date; createdBefore: Date };

/** More payments of one slot cannot begin within an interval, or an hour, unless a client creates and cancels them without a pause. */
const SLOT_SEARCH_MAX = 20;

/** Whether findSlotPayments() finds a payment that began before the interval. @param place 0 for the newest. */
export const isFoundBefore = (
  { startedBefore }: Pick<SlotSearch, 'startedBefore'>,
  { expires_at: expires, cancelled_at: cancelled }: Pick<PaymentRow, 'expires_at' | 'cancelled_at'>,
  place: number,
): boolean => {
  const end = Math.min(expires.getTime(), cancelled?.getTime() ?? Infinity);
  return place < SLOT_SEARCH_MAX && (place < 2 || end > startedBefore.getTime() - 3_600_000);
};

/**
 * Finds the payments that transfers can concern, with two index look-ups a search, however many payments the slot has had. The payments it
 * finds follow each other without a gap, because a payment ends where the next one begins.
 */
export async function findSlotPayments(db: Queryable, searches: readonly SlotSearch[]): Promise<FoundInSlot[]> {
  const { rows } = await db.query<FoundInSlot>({
    name: 'find-slot-payments',
    text: `
      select distinct found.payment_id, slot.network, slot.recipient, slot.amount_units, ${lostFromSql('found')} as lost_from
        from unnest($1::text[], $2::text[], $3::bigint[], $4::timestamptz[], $5::timestamptz[])
               as slot (network, recipient, amount_units, started_before, created_before),
        lateral (
         (select payment_id, merchant_id, recipient from (
            select *, row_number() over newest_first as place,
                   bool_and(least(expires_at, cancelled_at) > slot.started_before - interval '1 hour') over newest_first as is_recent
              from (
                select payment_id, merchant_id, recipient, created_at, expires_at, cancelled_at from payment
                 where network = slot.network and recipient = slot.recipient and amount_units = slot.amount_units
                   and created_at < slot.started_before
                 order by created_at desc, payment_id desc limit ${SLOT_SEARCH_MAX}) begun
            window newest_first as (order by created_at desc, payment_id desc)) placed
           where place <= 2 or is_recent)
         union all
         (select payment_id, merchant_id, recipient from payment
           where network = slot.network and recipient = slot.recipient and amount_units = slot.amount_units
             and created_at >= slot.started_before and created_at < slot.created_before
           order by created_at desc, payment_id desc limit ${SLOT_SEARCH_MAX})) as found`,
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

/** Where a transfer looks for payments that have its address for themselves: those that can have begun before its interval ended. */
export type HolderSearch = { network: string; recipient: string; createdBefore: Date };

/** A payment that has, or had, an address for itself. */
export type FoundHolder = Ownership & Pick<PaymentRow, 'network' | 'recipient' | 'created_at'>;

/** Of more payments than this on one address, within one rest, the oldest are not candidates for what arrives. */
const HOLDERS_MAX = 20;

/** @returns for each search the newest two, and those before whose rest was ended early. */
export async function findHolders(db: Queryable, searches: readonly HolderSearch[]): Promise<FoundHolder[]> {
  const { rows } = await db.query<FoundHolder>({
    name: 'find-holders',
    text: `
      select distinct found.payment_id, found.network, found.recipient, found.created_at, ${lostFromSql('found')} as lost_from
        from unnest($1::text[], $2::text[], $3::timestamptz[]) as asked (network, recipient, created_before), lateral (
         select payment_id, merchant_id, network, recipient, created_at from (
           select *, row_number() over (order by created_at desc) as place from (
             select payment_id, merchant_id, network, recipient, created_at, released_at from payment
              where network = asked.network and recipient = asked.recipient and created_at < asked.created_before
                and rest_seconds is not null
              order by network desc, recipient desc, created_at desc limit ${HOLDERS_MAX}) newest) placed
          where place <= 2 or released_at is not null) as found`,
    values: [
      searches.map(({ network }) => network),
      searches.map(({ recipient }) => recipient),
      searches.map(({ createdBefore }) => createdBefore),
    ],
  });
  return rows;
}

/**
 * Locks payments until the transaction ends.
 * @param busy whether to wait for payments that another transaction has locked, or to skip them.
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

/** @returns those of the payments that are in this table, locked or not. The others are in the archive. */
export async function findPresent(tx: Transaction, paymentIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await tx.query<{ payment_id: string }>('select payment_id from payment where payment_id = any($1)', [
    paymentIds,
  ]);
  return new Set(rows.map((row) => row.payment_id));
}

/** How many of the newest payments on a wallet are read, and how many unfinished ones on each side of an amount. */
const NEWEST_ON_WALLET = 100;
const NEAREST_ON_EACH_SIDE = 20;

type OnWallet = PaymentRow & Ownership;

const ownedColumns = `${paymentColumns}, ${lostFromSql('payment')} as lost_from`;

/**
 * The newest payments that share a wallet, of any amount and, where merchants share it, of any merchant.
 * @returns those created before the given time, newest first.
 */
export async function findNewestOnWallet(
  db: Queryable,
  wallet: { network: string; recipient: string },
  createdBefore: Date,
): Promise<OnWallet[]> {
  const { rows } = await db.query<OnWallet>(
    `select ${ownedColumns} from payment where network = $1 and recipient = $2 and created_at < $3 and rest_seconds is null
      order by created_at desc, payment_id desc limit ${NEWEST_ON_WALLET}`,
    [wallet.network, wallet.recipient, createdBefore],
  );
  return rows;
}

/**
 * The unfinished payments on wallets whose amounts are nearest to given ones: on a busy wallet they may not be among the newest.
 * @param amounts in millionths of a USDT.
 */
export async function findNearestUnfinished(
  db: Queryable,
  amounts: readonly { network: string; recipient: string; amountUnits: bigint }[],
): Promise<OnWallet[]> {
  const { rows } = await db.query<OnWallet>({
    name: 'find-nearest-unfinished',
    text: `
      select ${ownedColumns} from payment where payment_id = any (array(
        select found.payment_id
          from unnest($1::text[], $2::text[], $3::bigint[]) as asked (network, recipient, units), lateral (
           (select payment_id from payment
             where network = asked.network and recipient = asked.recipient and amount_units >= asked.units and ${isUnfinishedSql}
               and rest_seconds is null
             order by amount_units limit ${NEAREST_ON_EACH_SIDE})
           union all
           (select payment_id from payment
             where network = asked.network and recipient = asked.recipient and amount_units < asked.units and ${isUnfinishedSql}
               and rest_seconds is null
             order by amount_units desc limit ${NEAREST_ON_EACH_SIDE})) found))`,
    values: [
      amounts.map(({ network }) => network),
      amounts.map(({ recipient }) => recipient),
      amounts.map(({ amountUnits }) => amountUnits),
    ],
  });
  return rows;
}

/** @returns the newest payment of a slot that was created before the span ended and ended after it began; null when there is none. */
export async function findNewestOfSlot(
  db: Queryable,
  slot: Slot,
  { createdBefore, endedAfter }: { createdBefore: Date; endedAfter: Date },
): Promise<PaymentRow | null> {
  const { rows } = await db.query<PaymentRow>(
    `select ${paymentColumns} from payment
      where network = $1 and recipient = $2 and amount_units = $3 and created_at < $4
        and least(expires_at, cancelled_at) > $5
      order by created_at desc, payment_id desc limit 1`,
    [slot.network, slot.recipient, slot.amountUnits, createdBefore, endedAfter],
  );
  return rows[0] ?? null;
}

/** Stores who cancelled a payment manually. It has just become CANCELLED in this transaction. */
export async function insertCancellation(
  tx: Transaction,
  { payment_id, merchant_id, cancelled_at }: PaymentRow,
  { actor, reason }: Author,
): Promise<void> {
  await tx.query(
    `insert into payment_cancellation (payment_id, merchant_id, actor, reason, cancelled_at) values ($1, $2, $3, $4, $5)`,
    [payment_id, merchant_id, actor, reason, cancelled_at],
  );
}

/** @returns null for a payment that no operator cancelled. */
export async function findCancellation(
  db: Queryable,
  paymentId: string,
): Promise<WithDates<Cancellation, 'cancelled_at'> | null> {
  const { rows } = await db.query<WithDates<Cancellation, 'cancelled_at'>>(
    'select actor, reason, cancelled_at from payment_cancellation where payment_id = $1',
    [paymentId],
  );
  return rows[0] ?? null;
}
