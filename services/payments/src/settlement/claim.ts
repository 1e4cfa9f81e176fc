import { isUnfinished } from '../payment/state.ts';
import type { PaymentRow } from '../payment/payment.sql.ts';
import {
  intervalOf,
  type Interval,
  meets,
  type PaymentTimes,
  type Sighting,
  startOf,
  UNSEEN_LAG_MS,
  wasKnownBefore,
  windowOf,
} from './payment-window.ts';

/** The fields of a payment that the rules use. */
export type SlotPayment = PaymentTimes & Pick<PaymentRow, 'payment_id' | 'merchant_id' | 'status' | 'order_id'>;

/**
 * Which payment a transfer of the exact amount belongs to. `isInside`: the time of its block is in the payment's window. Otherwise only the
 * end of the interval reaches it, and a transfer inside the window takes precedence.
 */
export type Claim<P> =
  | { kind: 'one'; payment: P; isInside: boolean }
  | { kind: 'ambiguous'; candidates: P[] }
  | { kind: 'none' };

type Claimant<P> = { payment: P; start: number; end: number };

/** No customer pays faster than this after seeing a payment. Money that arrives sooner was sent late for an earlier payment. */
const HASTE_MS = 5_000;
/** How long after a payment has ended unpaid its customer may still pay it. */
const LATE_PAYER_MS = 60 * 60 * 1000;

/**
 * Decides by time which payment of its slot a transfer pays (docs/adr/0062). The time we noticed it does not matter: a day of downtime
 * doesn't change who paid. But block clocks lag and customers are late, so a transfer has an interval. When several payments fit it, none
 * is paid by a guess. The first rule that applies decides.
 * @param slot payments of one slot in the order of `created_at` and `payment_id`: those whose window can meet the interval, and the one
 *   before them.
 */
export function claimOf<P extends SlotPayment>(slot: readonly P[], transfer: Sighting): Claim<P> {
  const interval = intervalOf(transfer);
  const windows = slotWindows(slot);
  const claimants = windows.filter((one) => meets(interval, one) && !wasKnownBefore(one.payment, transfer));
  const newest = claimants.at(-1);
  if (newest === undefined) return { kind: 'none' };
  const before = windows[windows.indexOf(newest) - 1];
  if (before !== undefined && isLatePayer(interval, before, newest)) return ambiguous([before, newest], interval);
  const holder = claimants.find((one) => holds(one, interval.from));
  if (claimants.length === 1) {
    if (holder !== undefined) return one(newest, interval);
    const rivals = windows.slice(0, windows.indexOf(newest)).filter((other) => endedRecently(other, newest));
    return rivals.length === 0 ? one(newest, interval) : ambiguous([...rivals, newest], interval);
  }
  if (holder !== undefined && interval.to - interval.from <= UNSEEN_LAG_MS) return one(holder, interval);
  return ambiguous(claimants, interval);
}

/** A window also ends where the next payment of the slot begins. */
function slotWindows<P extends SlotPayment>(slot: readonly P[]): Claimant<P>[] {
  return slot.map((payment, position) => {
    const next = slot[position + 1];
    const { start, end } = windowOf(payment);
    return { payment, start, end: next === undefined ? end : Math.min(end, startOf(next)) };
  });
}

/** The earlier payment ended unpaid not long before, and the money came between its end and the first seconds of the later one. */
const isLatePayer = <P extends SlotPayment>({ from }: Interval, before: Claimant<P>, newest: Claimant<P>): boolean =>
  before.payment.status !== 'PAID' &&
  endedRecently(before, newest) &&
  from >= before.end &&
  from < newest.start + HASTE_MS;

/** Whether the payment ended unpaid within the hour before this moment, so that its customer may still pay it. */
export function endedUnpaidBefore(payment: SlotPayment, moment: number): boolean {
  const { end } = windowOf(payment);
  return payment.status !== 'PAID' && end <= moment && end >= moment - LATE_PAYER_MS;
}

const endedRecently = <P extends SlotPayment>({ end }: Claimant<P>, { payment }: Claimant<P>): boolean =>
  end >= payment.created_at.getTime() - LATE_PAYER_MS;

const holds = ({ start, end }: Claimant<unknown>, time: number): boolean => time >= start && time < end;

const one = <P>(claimant: Claimant<P>, { from }: Interval): Claim<P> => ({
  kind: 'one',
  payment: claimant.payment,
  isInside: holds(claimant, from),
});

/** Whether payments are for the same order of the same merchant, and so of one customer. */
export const areOneOrder = (payments: readonly SlotPayment[]): boolean =>
  payments.every(
    ({ order_id: order, merchant_id: merchant }) =>
      order !== null && order === payments[0]?.order_id && merchant === payments[0].merchant_id,
  );

/** When all payments are one customer's, any of them may be paid. A PAID payment needs no more money. */
function ambiguous<P extends SlotPayment>(claimants: readonly Claimant<P>[], interval: Interval): Claim<P> {
  const all = claimants.map(({ payment }) => payment);
  const chosen = claimants.findLast(({ payment }) => isUnfinished(payment.status)) ?? claimants.at(-1);
  if (chosen !== undefined && areOneOrder(all)) return one(chosen, interval);
  const unpaid = all.filter(({ status }) => status !== 'PAID');
  return { kind: 'ambiguous', candidates: unpaid.length > 0 ? unpaid : all };
}
