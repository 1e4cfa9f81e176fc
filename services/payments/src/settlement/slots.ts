import type { Transaction } from '@quittance/postgres/transaction.ts';
import {
  findHolders,
  findNearestUnfinished,
  findNewestOnWallet,
  findPresent,
  findSlotPayments,
  isFoundBefore,
  lockPayments,
  type Ownership,
  type HolderSearch,
  type PaymentRow,
  type Slot,
  type SlotSearch,
} from '../payment/payment.sql.ts';
import { MAX_AMOUNT_UNITS, toTokenUnits } from '@quittance/contracts/amount.ts';
import type { TransferRow } from './transfer.sql.ts';
import { holderSearchOf, slotSearchOf } from './decision.ts';
import { isDedicated, isInTenure } from './parts.ts';
import { intervalOf, startOfNextSecond } from './payment-window.ts';

/** Locked payments in their current state. Decisions about them are kept here until they are written. */
export type LockedPayments = {
  /** Null for a payment that is only in the archive. */
  find: (paymentId: string) => PaymentRow | null;
  /** The payments of the transfer's slot that it can concern, oldest first; see SlotSearch and concerns(). */
  slotOf: (transfer: TransferRow) => PaymentRow[];
  /** The payments that had the transfer's address for themselves when it came, newest first. */
  holdersOf: (transfer: TransferRow) => PaymentRow[];
  replace: (payment: PaymentRow) => void;
};

/**
 * Locks the payments that transfers pay, or could pay. A transfer that fits no payment locks nothing.
 * @param mode as for lockPayments().
 * @returns them, and the transfers that need a payment locked by another transaction: with 'wait' there are none.
 */
export async function lockPaymentsOf(
  tx: Transaction,
  transfers: readonly TransferRow[],
  mode: 'wait' | 'skip',
): Promise<{ payments: LockedPayments; busy: TransferRow[] }> {
  // Dust with one amount in one block needs only one search.
  const searches = new Map<string, SlotSearch>();
  const holderSearches = new Map<string, HolderSearch>();
  for (const transfer of transfers) {
    const search = slotSearchOf(transfer);
    if (search !== null) searches.set(searchKey(search), search);
    const holderSearch = holderSearchOf(transfer);
    if (holderSearch !== null) holderSearches.set(holderKey(holderSearch), holderSearch);
  }
  const found = searches.size === 0 ? [] : await findSlotPayments(tx, [...searches.values()]);
  const foundIn = Map.groupBy(found, ({ amount_units: amountUnits, ...slot }) => slotKey({ ...slot, amountUnits }));
  const holders = holderSearches.size === 0 ? [] : await findHolders(tx, [...holderSearches.values()]);
  const assigned = transfers.flatMap(({ payment_id: pays, related_payment_id: related }) => pays ?? related ?? []);
  const wanted = [...new Set([...[...found, ...holders].map(({ payment_id: paymentId }) => paymentId), ...assigned])];
  const locked = wanted.length === 0 ? [] : await lockPayments(tx, wanted, mode);
  const current = new Map(locked.map((payment) => [payment.payment_id, payment]));
  const missing = wanted.filter((id) => !current.has(id));
  const lockedByOthers = missing.length === 0 ? new Set<string>() : await findPresent(tx, missing);
  const foundFor = (transfer: TransferRow): Ownership[] => {
    const search = slotSearchOf(transfer);
    return ((search && foundIn.get(slotKey(search))) ?? []).filter((payment) => concerns(transfer, payment));
  };
  // A transfer that brings no money has no holders, even if others to the same wallet have.
  const holdersFor = (transfer: TransferRow): Ownership[] =>
    holderSearchOf(transfer) === null
      ? []
      : holders.filter((payment) => walletKey(payment) === walletKey(transfer) && concerns(transfer, payment));
  const currentOf = ({ payment_id: paymentId }: Ownership): PaymentRow[] => {
    const payment = current.get(paymentId);
    return payment === undefined ? [] : [payment];
  };

  return {
    payments: {
      find: (paymentId) => current.get(paymentId) ?? null,
      slotOf(transfer) {
        const search = slotSearchOf(transfer);
        const slot = foundFor(transfer).flatMap(currentOf);
        return search === null ? [] : concernedBy(search, slot).filter((payment) => !isDedicated(payment));
      },
      holdersOf: (transfer) =>
        holdersFor(transfer)
          .flatMap(currentOf)
          .filter((payment) => isInTenure(payment, transfer))
          .toSorted(inOrder)
          .toReversed(),
      replace: (payment) => void current.set(payment.payment_id, payment),
    },
    busy: transfers.filter((transfer) =>
      [
        ...foundFor(transfer),
        ...holdersFor(transfer),
        { payment_id: transfer.payment_id ?? transfer.related_payment_id },
      ].some(({ payment_id: id }) => id !== null && lockedByOthers.has(id)),
    ),
  };
}

/**
 * Whether a transfer may concern a payment on its wallet. After a merchant has proven the wallet, new money is only for that merchant's
 * payments; money that another payment already waits for stays with that one.
 */
const concerns = (transfer: TransferRow, { payment_id: paymentId, lost_from: lostFrom }: Ownership): boolean =>
  lostFrom === null || intervalOf(transfer).to < lostFrom.getTime() || transfer.payment_id === paymentId;

/** The part of the slot that findSlotPayments() finds for one search, when it ran several. */
function concernedBy(search: SlotSearch, slot: readonly PaymentRow[]): PaymentRow[] {
  const begun = slot.filter((payment) => payment.created_at < search.createdBefore).toSorted(inOrder);
  const meanwhile = begun.findIndex((payment) => payment.created_at >= search.startedBefore);
  const before = begun.slice(0, meanwhile === -1 ? begun.length : meanwhile).toReversed();
  const gap = before.findIndex((payment, place) => !isFoundBefore(search, payment, place));
  return begun.slice(gap === -1 ? 0 : before.length - gap);
}

/** The order of a slot. */
const inOrder = (a: PaymentRow, b: PaymentRow): number =>
  a.created_at.getTime() - b.created_at.getTime() || (a.payment_id < b.payment_id ? -1 : 1);

const searchKey = (search: SlotSearch): string =>
  `${slotKey(search)} ${search.startedBefore.getTime()} ${search.createdBefore.getTime()}`;

const walletKey = ({ network, recipient }: { network: string; recipient: string }): string => `${network} ${recipient}`;

const holderKey = (search: HolderSearch): string => `${walletKey(search)} ${search.createdBefore.getTime()}`;

const slotKey = ({ network, recipient, amountUnits }: Slot): string => `${network} ${recipient} ${amountUnits}`;

/**
 * Looks for the payments on a transfer's wallet that it may be for: the newest, and the unfinished ones of the nearest amounts. Transfers
 * with the same answer share one query: anyone can send dust to a wallet, and each grain must not cause a read.
 */
export function createWalletSearch(
  tx: Transaction,
  transfers: readonly TransferRow[],
): (transfer: TransferRow) => Promise<readonly PaymentRow[]> {
  const endOf = (transfer: TransferRow) => startOfNextSecond(intervalOf(transfer).to);
  const latest = new Map<string, Date>();
  for (const transfer of transfers) {
    if (endOf(transfer) > (latest.get(walletKey(transfer)) ?? new Date(0)))
      latest.set(walletKey(transfer), endOf(transfer));
  }
  const newest = new Map<string, Promise<OnWallet[]>>();
  const findNewest = (transfer: TransferRow, createdBefore: Date): Promise<OnWallet[]> => {
    const id = `${walletKey(transfer)} ${createdBefore.getTime()}`;
    const known = newest.get(id) ?? findNewestOnWallet(tx, transfer, createdBefore);
    newest.set(id, known);
    return known;
  };
  let nearest: Promise<OnWallet[]> | null = null;
  const findNearest = () => {
    const asked = new Map(transfers.map((transfer) => [`${walletKey(transfer)} ${millionthsOf(transfer)}`, transfer]));
    return findNearestUnfinished(
      tx,
      [...asked.values()].map((transfer) => ({ ...transfer, amountUnits: millionthsOf(transfer) })),
    );
  };
  return async (transfer) => {
    const end = endOf(transfer);
    const all = await findNewest(transfer, latest.get(walletKey(transfer)) ?? end);
    // Payments created after its interval push older ones out of the answer.
    const begun = all.every((payment) => payment.created_at < end) ? all : await findNewest(transfer, end);
    const unfinished = (await (nearest ??= findNearest())).filter(
      (payment) => walletKey(payment) === walletKey(transfer) && payment.created_at < end,
    );
    const found = new Map([...begun, ...unfinished].map((payment) => [payment.payment_id, payment]));
    return [...found.values()].filter((payment) => concerns(transfer, payment));
  };
}

type OnWallet = PaymentRow & Ownership;

/** Rounded down: it only chooses where to search. */
const millionthsOf = ({ amount_units: units, decimals }: TransferRow): bigint => {
  const millionths = BigInt(units) / toTokenUnits(1n, decimals);
  return millionths < MAX_AMOUNT_UNITS ? millionths : MAX_AMOUNT_UNITS;
};
