import type { PaymentStatus, UnmatchedReason } from '@quittance/contracts/api/payment.ts';
import {
  type Arrival,
  beginOf,
  type Claimant,
  endOf,
  floorSecond,
  hasEndedUnpaid,
  inOrder,
  intervalOf,
  isOneOrder,
  wasKnownBefore,
} from './whose-money.ts';

/* Which payments unmatched money may be for, and who may accept it: the contract's rules, written a second time. */

const DAY = 86_400_000;
const MOST = 20;

/** `asked`: the payment's amount in the units of transfers. */
export type Asking = Claimant & { asked: bigint };

/** `carried`: what the transfer moved, in the same units. */
export type Money = Arrival & { carried: bigint };

/** Why money does not pay, and the payments that it may be for; `reason` null: there is none, or not yet. */
export type Leftover<P> = { reason: UnmatchedReason | null; among: P[] };

const unpaid = (payment: Claimant): boolean => payment.status !== 'PAID';

/** The payments that the money can still be for; when all are paid, all. */
export const stillPossible = <P extends { status: PaymentStatus }>(among: readonly P[]): P[] =>
  among.every(({ status }) => status === 'PAID') ? [...among] : among.filter(({ status }) => status !== 'PAID');

/** When the money came, the payment was open, or had ended less than a day before. */
export function waitedOrRested(payment: Claimant, arrival: Arrival): boolean {
  const { from, to } = intervalOf(arrival);
  return beginOf(payment) <= to && from < endOf(payment) + DAY && !wasKnownBefore(payment, arrival);
}

/**
 * Exact money that no payment of the slot claims. It belongs to the last payment that waited or rested; long after that, to the last one
 * that had begun. It may also belong to the one before, if that was not paid and its customer may be late.
 */
export function unclaimed<P extends Claimant>(slot: readonly P[], arrival: Arrival): Leftover<P> | null {
  const { from } = intervalOf(arrival);
  const there = slot.filter((payment) => waitedOrRested(payment, arrival));
  const ever = slot.filter((payment) => beginOf(payment) <= from && !wasKnownBefore(payment, arrival));
  const begun = there.length > 0 ? there : ever;
  const last = begun.sort(inOrder).at(-1);
  if (last === undefined) return null;
  const before = slot
    .filter((payment) => inOrder(payment, last) < 0)
    .sort(inOrder)
    .at(-1);
  const isLateToo =
    before !== undefined && !isTaken(last) && hasEndedUnpaid(before) && isWithinAnHour(from - endOf(before));
  const among = isLateToo && !isOneOrder([before, last]) ? [last, before] : [last];
  return { reason: reasonFor(last, from), among };
}

/** It has other money, or is about to. */
const isTaken = ({ status }: Claimant): boolean => status === 'PAID' || status === 'CHECKING';

const isWithinAnHour = (since: number): boolean => since >= 0 && since <= 3_600_000;

function reasonFor(payment: Claimant, from: number): UnmatchedReason | null {
  if (isTaken(payment)) return 'duplicate';
  // It is past its expiry, but not EXPIRED yet.
  return payment.status === 'PENDING' ? null : lateReason(payment, from);
}

/** The reason for money that came after a payment had ended. */
export const lateReason = ({ cancelledAt }: Claimant, from: number): 'after_cancel' | 'late' =>
  cancelledAt !== null && floorSecond(cancelledAt) <= from ? 'after_cancel' : 'late';

/** Which payments of a wallet a transfer may be for when it has no payment's exact amount. */
export function nearBy<P extends Asking>(wallet: readonly P[], money: Money): Leftover<P> {
  const there = wallet.filter((payment) => payment.asked !== money.carried && waitedOrRested(payment, money));
  const unpaidOnes = nearest(there.filter(unpaid), money.carried);
  const among =
    unpaidOnes.length > 0
      ? unpaidOnes
      : nearest(
          there.filter((payment) => !unpaid(payment)),
          money.carried,
        );
  const [first] = among;
  return { reason: first === undefined ? null : otherAmount(first, money), among };
}

export const otherAmount = ({ asked }: { asked: bigint }, { carried }: { carried: bigint }): 'underpaid' | 'overpaid' =>
  carried < asked ? 'underpaid' : 'overpaid';

export const isDustFor = ({ asked }: { asked: bigint }, { carried }: { carried: bigint }): boolean =>
  carried * 100n < asked;

/** Between half and twice the requested amount. */
const isNear = ({ asked }: { asked: bigint }, { carried }: { carried: bigint }): boolean =>
  carried * 2n >= asked && carried <= asked * 2n;

function nearest<P extends Asking>(payments: readonly P[], carried: bigint): P[] {
  const near = payments.filter((payment) => isNear(payment, { carried }));
  const among = near.length > 0 ? near : payments.filter((payment) => !isDustFor(payment, { carried }));
  return among
    .sort((one, other) => Number(distance(one, carried) - distance(other, carried)) || -inOrder(one, other))
    .slice(0, MOST);
}

const distance = ({ asked }: Asking, carried: bigint): bigint => (asked < carried ? carried - asked : asked - carried);

export type Refusal =
  | 'pays another payment'
  | 'exactly the amount of another payment'
  | 'another payment is the candidate'
  | 'of another merchant'
  | 'candidates not confirmed';

/**
 * Why nobody may accept this money for the payment, whatever the chain shows.
 * @param wallet every payment of the wallet. @param among the candidates of the money. @param by null for an operator.
 */
export function acceptanceRefusal(
  payment: Asking,
  money: Money & { pays: string | null },
  wallet: readonly Asking[],
  among: readonly Claimant[],
  { by, confirmed }: { by: string | null; confirmed: number | null },
): Refusal | null {
  const exact = payment.asked === money.carried;
  const strangers = wallet.filter(({ id, asked }) => id !== payment.id && asked === money.carried);
  const refusals: [boolean, Refusal][] = [
    [money.pays !== null && money.pays !== payment.id, 'pays another payment'],
    [!exact && strangers.some((other) => waitedOrRested(other, money)), 'exactly the amount of another payment'],
    [exact && among.length > 0 && !among.some(({ id }) => id === payment.id), 'another payment is the candidate'],
    [by !== null && among.some(({ merchant }) => merchant !== by), 'of another merchant'],
    // A caller who gives a number must give the right one, and with several candidates the number is required.
    [confirmed === null ? among.length > 1 : confirmed !== Math.max(1, among.length), 'candidates not confirmed'],
  ];
  return refusals.find(([applies]) => applies)?.[1] ?? null;
}
