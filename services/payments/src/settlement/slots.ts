import type { Transaction } from '@quittance/postgres/transaction.ts';
import {
  findPaymentsOnWallet,
  findPresent,
  findSlotPayments,
  lockPayments,
  type Ownership,
  type PaymentRow,
  type Slot,
  type SlotSearch,
} from '../store/payment.ts';
import type { TransferRow } from '../store/transfer.ts';
import { endOfLag, slotSearchOf } from './decision.ts';

/** Payments that are locked, as they are now; what is decided about them is kept here until it is written. */
export type LockedPayments = {
  /** Null for one that is only in the archive. */
  find: (paymentId: string) => PaymentRow | null;
  /** Those of the transfer's slot that its block can concern, oldest first; at most two. See concerns(). */
  slotOf: (transfer: TransferRow) => PaymentRow[];
  replace: (payment: PaymentRow) => void;
};

/**
 * Locks the payments that transfers pay, or could pay. A transfer that fits no payment locks nothing.
 * @param mode as for lockPayments().
 * @returns them, and the transfers that need a payment which another transaction has locked: with 'wait' there are none.
 */
export async function lockPaymentsOf(
  tx: Transaction,
  transfers: readonly TransferRow[],
  mode: 'wait' | 'skip',
): Promise<{ payments: LockedPayments; busy: TransferRow[] }> {
  // Dust of one amount and one block is one search.
  const searches = new Map<string, SlotSearch>();
  for (const transfer of transfers) {
    const search = slotSearchOf(transfer);
    if (search !== null) searches.set(`${slotKey(search)} ${search.startedBefore.getTime()}`, search);
  }
  const found = searches.size === 0 ? [] : await findSlotPayments(tx, [...searches.values()]);
  const foundIn = Map.groupBy(found, ({ amount_units: amountUnits, ...slot }) => slotKey({ ...slot, amountUnits }));
  const assigned = transfers.flatMap(({ payment_id: paymentId }) => paymentId ?? []);
  const wanted = [...new Set([...found.map(({ payment_id: paymentId }) => paymentId), ...assigned])];
  const locked = wanted.length === 0 ? [] : await lockPayments(tx, wanted, mode);
  const current = new Map(locked.map((payment) => [payment.payment_id, payment]));
  const missing = wanted.filter((id) => !current.has(id));
  const lockedByOthers = missing.length === 0 ? new Set<string>() : await findPresent(tx, missing);
  const foundFor = (transfer: TransferRow): Ownership[] => {
    const search = slotSearchOf(transfer);
    return ((search && foundIn.get(slotKey(search))) ?? []).filter((payment) => concerns(transfer, payment));
  };

  return {
    payments: {
      find: (paymentId) => current.get(paymentId) ?? null,
      slotOf(transfer) {
        const search = slotSearchOf(transfer);
        const slot = foundFor(transfer).flatMap(({ payment_id: paymentId }) => current.get(paymentId) ?? []);
        return search === null ? [] : concernedBy(search, slot);
      },
      replace: (payment) => void current.set(payment.payment_id, payment),
    },
    busy: transfers.filter((transfer) =>
      [...foundFor(transfer), transfer].some(({ payment_id: id }) => id !== null && lockedByOthers.has(id)),
    ),
  };
}

/**
 * Whether a transfer may have to do with a payment on its wallet. Once a merchant has proven the wallet, what comes is for its payments
 * and nobody else's; but what another payment waits for already stays that one's.
 */
const concerns = (transfer: TransferRow, { payment_id: paymentId, lost_from: lostFrom }: Ownership): boolean =>
  lostFrom === null || transfer.block_timestamp < lostFrom || transfer.payment_id === paymentId;

/** What findSlotPayments() finds for one search, among what it found for several in the slot. */
function concernedBy({ startedBefore, createdBefore }: SlotSearch, slot: readonly PaymentRow[]): PaymentRow[] {
  const sorted = slot.toSorted((a, b) => a.created_at.getTime() - b.created_at.getTime());
  const started = sorted.findLast((payment) => payment.created_at < startedBefore);
  const next = sorted.find((payment) => payment.created_at >= startedBefore && payment.created_at < createdBefore);
  return [started, next].filter((payment) => payment !== undefined);
}

const slotKey = ({ network, recipient, amountUnits }: Slot): string => `${network} ${recipient} ${amountUnits}`;

/**
 * Looks for the payments on a transfer's wallet, once for all transfers on it where that gives the same answer. It reads many rows,
 * and whoever sends dust to a wallet must not have them read for each grain.
 */
export function createWalletSearch(
  tx: Transaction,
  transfers: readonly TransferRow[],
): (transfer: TransferRow) => Promise<readonly PaymentRow[]> {
  const key = ({ network, recipient }: TransferRow) => `${network} ${recipient}`;
  const latest = new Map<string, Date>();
  for (const transfer of transfers) {
    const end = endOfLag(transfer);
    if (end > (latest.get(key(transfer)) ?? new Date(0))) latest.set(key(transfer), end);
  }
  const searches = new Map<string, Promise<(PaymentRow & Ownership)[]>>();
  const search = (transfer: TransferRow, createdBefore: Date): Promise<(PaymentRow & Ownership)[]> => {
    const id = `${key(transfer)} ${createdBefore.getTime()}`;
    const known = searches.get(id) ?? findPaymentsOnWallet(tx, transfer, createdBefore);
    searches.set(id, known);
    return known;
  };
  return async (transfer) => {
    const end = endOfLag(transfer);
    const newest = await search(transfer, latest.get(key(transfer)) ?? end);
    // Payments created after its block push older ones out of the answer.
    const found = newest.every((payment) => payment.created_at < end) ? newest : await search(transfer, end);
    return found.filter((payment) => concerns(transfer, payment));
  };
}
