import { AMOUNT_DECIMALS, formatUnits, parseAmount } from '@quittance/contracts/amount.ts';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { type Arrived, LEEWAY_MS, windowOf } from './ledger.ts';

/** A merchant may accept what is at least this part of the amount. */
const ACCEPT_MIN_PERCENT = 90;

/** "0" is not an amount of a payment. */
const unitsOf = (amount: string): bigint => parseAmount(amount) ?? 0n;
const sumOf = (transfers: readonly Arrived[]): bigint => transfers.reduce((sum, { units }) => sum + units, 0n);
const textOf = (units: bigint): string => formatUnits(units, AMOUNT_DECIMALS);
const arrivedAt = ({ merchant_wallet: wallet }: Payment, arrived: readonly Arrived[]): Arrived[] =>
  arrived.filter((one) => one.wallet === wallet);

const isEnough = ({ amount }: Payment, units: bigint, percent: number): boolean =>
  units * 100n >= unitsOf(amount) * BigInt(percent);

/**
 * Compares payments that had an address for themselves with the chain: everything at the address is such a payment's.
 * @returns a line for each difference.
 */
export function wrongParts(payments: readonly Payment[], arrived: readonly Arrived[]): string[] {
  const taken = new Set<string>();
  return payments.flatMap((payment) => {
    const { payment_id: id, status, merchant_wallet: wallet } = payment;
    if (taken.has(wallet)) return [`${id} has the address of another payment, ${wallet}`];
    taken.add(wallet);
    const transfers = arrivedAt(payment, arrived);
    const received = wronglyReceived(payment, transfers);
    if (status === 'PENDING' || status === 'CHECKING') return [...received, `${id} is still ${status}`];
    if (status === 'PAID') return [...received, ...wronglyPaid(payment, transfers)];
    const certain = sumOf(transfers.filter((one) => isCertain(payment, one)));
    return isEnough(payment, certain, enoughPercent(payment))
      ? [...received, `${id} is ${status}, and ${textOf(certain)} of ${payment.amount} came in time`]
      : received;
  });
}

const enoughPercent = ({ accept_from_percent: percent }: Payment): number => percent ?? 100;

/** Whether a transfer came in time by the chain's clock and by ours. */
function isCertain(payment: Payment, { at, minedAt }: Arrived): boolean {
  const { from, to } = windowOf(payment);
  return Math.min(at, minedAt) >= from && Math.max(at, minedAt) < to;
}

/** Whether it may have come in time, by either clock and however late it was seen. */
function isPossible(payment: Payment, { at, minedAt }: Arrived): boolean {
  const { from, to } = windowOf(payment);
  return Math.max(at, minedAt) + LEEWAY_MS >= from && Math.min(at, minedAt) < to;
}

/** A transfer in a block that is older than the payment may not be counted, if it was read late. */
function wronglyReceived(payment: Payment, transfers: readonly Arrived[]): string[] {
  const { payment_id: id, received_amount: received } = payment;
  if (received === null) return [`${id} does not say what it has received`];
  const units = unitsOf(received);
  const { from } = windowOf(payment);
  const [least, most] = [sumOf(transfers.filter(({ at }) => at >= from)), sumOf(transfers)];
  return units >= least && units <= most
    ? []
    : [`${id} says that it has received ${received}, and ${textOf(most)} arrived at its address`];
}

function wronglyPaid(payment: Payment, transfers: readonly Arrived[]): string[] {
  const { payment_id: id, transaction, amount } = payment;
  if (transaction === null) return [`${id} is PAID by nothing`];
  const key = `${transaction.transaction_id}-${transaction.transaction_event_index}`;
  const by = transfers.find((one) => one.key === key);
  if (by === undefined) return [`${id} is PAID by ${key}, which did not go to its address`];
  const broken =
    unitsOf(transaction.amount) === by.units
      ? []
      : [`${id} says that ${key} carried ${transaction.amount}; it carried ${textOf(by.units)}`];
  const percent = transaction.accepted ? Math.min(ACCEPT_MIN_PERCENT, enoughPercent(payment)) : enoughPercent(payment);
  const counting = transaction.accepted ? transfers : transfers.filter((one) => isPossible(payment, one));
  if (!counting.includes(by)) broken.push(`${id} is PAID by ${key}, which did not come in time`);
  if (!isEnough(payment, sumOf(counting), percent))
    broken.push(`${id} is PAID, and ${textOf(sumOf(counting))} of ${amount} could count`);
  return broken;
}

/** What a PAID event says about the transfers to an address of its own. */
export type PaidEvent = {
  transaction_id: string;
  received_amount?: string;
  transfers?: { transaction_id: string; transaction_event_index: number; amount: string }[];
};

/** Each event has transfers of the chain that no other event has, with their sum, which is enough. @returns a line for each difference. */
export function wrongPartsTold(
  told: readonly { payment: Payment; event: PaidEvent }[],
  arrived: readonly Arrived[],
): string[] {
  const counted = new Map<string, string>();
  return told.flatMap(({ payment, event }) => {
    const { payment_id: id, dedicated, transaction } = payment;
    const { received_amount: received, transfers: parts = [] } = event;
    if (!dedicated) return received === undefined ? [] : [`the event of ${id} says what it has received`];
    const broken: string[] = [];
    const there = new Map(arrivedAt(payment, arrived).map((one) => [one.key, one.units]));
    for (const part of parts) {
      const key = `${part.transaction_id}-${part.transaction_event_index}`;
      if (there.get(key) !== unitsOf(part.amount)) broken.push(`the event of ${id} has ${key} with ${part.amount}`);
      if (counted.has(key)) broken.push(`${key} counts for ${counted.get(key)} and for ${id}`);
      counted.set(key, id);
    }
    const sum = parts.reduce((total, { amount }) => total + unitsOf(amount), 0n);
    if (received === undefined || unitsOf(received) !== sum)
      broken.push(`the event of ${id} says that ${received} was received, in parts of ${textOf(sum)}`);
    if (!isEnough(payment, sum, Math.min(ACCEPT_MIN_PERCENT, enoughPercent(payment))))
      broken.push(`the event of ${id} has only ${textOf(sum)} of ${payment.amount}`);
    if (!parts.some(({ transaction_id: part }) => part === transaction?.transaction_id))
      broken.push(`the event of ${id} lacks ${transaction?.transaction_id}, which completed it`);
    return broken;
  });
}
