import { randomInt } from 'node:crypto';
import type { PaymentStatus, UnmatchedReason } from '@quittance/contracts/api/payment.ts';
import { StackError } from '../stack/directory.ts';

/** The outcome that the rules require. */
export type Outcome = {
  /** For people. */
  should: string;
  becomes: PaymentStatus;
  /** The expected reason of each unmatched transfer; absent if that depends on the moment at which each is confirmed. */
  unmatched?: readonly UnmatchedReason[];
};

/** A way of paying, and its outcome on a wallet that payments share. Amounts are in millionths of a USDT. */
export type Scenario = Outcome & {
  about: string;
  /**
   * The transfers of each transaction.
   * @param units what the payment asks for; on an address of its own, what is missing. @throws StackError if it is too small.
   */
  transactions(units: bigint): bigint[][];
  /** On an address that the payment has for itself. Absent if it is the same. */
  alone?: Outcome;
  /** The payment ends before the transfer is sent. */
  afterEnd?: true;
};

const CENT = 10_000n;

const waitsForTheRest: Outcome = {
  should: 'The payment still waits, and its page asks for the rest. `npm run chain -- pay` sends the rest.',
  becomes: 'PENDING',
  unmatched: [],
};

const paidOnce: Outcome = {
  should: 'The payment becomes PAID, with one webhook, and shows everything that has arrived.',
  becomes: 'PAID',
};

export const scenarios = {
  pay: {
    about: 'pays exactly what is asked for, or the rest',
    should: 'The payment becomes PAID, and its webhook is delivered once.',
    transactions: (units) => [[units]],
    becomes: 'PAID',
    unmatched: [],
  },
  short: {
    about: 'pays a few percent too little',
    should:
      'The payment still waits: the transfer is unmatched, with the reason underpaid. Its merchant may accept it.',
    transactions: (units) => [[share(units, 92, 99)]],
    becomes: 'PENDING',
    unmatched: ['underpaid'],
    alone: waitsForTheRest,
  },
  over: {
    about: 'pays a few percent too much',
    should: 'The payment still waits: the transfer is unmatched, with the reason overpaid. Its merchant may accept it.',
    transactions: (units) => [[share(units, 101, 108)]],
    becomes: 'PENDING',
    unmatched: ['overpaid'],
    alone: {
      should: 'The payment becomes PAID, and says that more has arrived. Its webhook is delivered once.',
      becomes: 'PAID',
      unmatched: [],
    },
  },
  late: {
    about: "waits for the payment's end, then pays",
    should: 'The payment stays EXPIRED: the transfer is unmatched, with the reason late. Its merchant may accept it.',
    transactions: (units) => [[units]],
    becomes: 'EXPIRED',
    unmatched: ['late'],
    afterEnd: true,
  },
  twice: {
    about: 'pays twice, in two transactions',
    should: 'The first transfer pays: PAID, with one webhook. The second is unmatched: a duplicate.',
    transactions: (units) => [[units], [units]],
    becomes: 'PAID',
    unmatched: ['duplicate'],
    alone: paidOnce,
  },
  three: {
    about: 'pays three times in one transaction',
    should: 'One of the three transfers pays: PAID, with one webhook. The others are unmatched: duplicates.',
    transactions: (units) => [[units, units, units]],
    becomes: 'PAID',
    unmatched: ['duplicate', 'duplicate'],
    alone: paidOnce,
  },
  'dropped-digits': {
    about: 'pays without the digits behind the cents, as a hurried customer does',
    should:
      'The payment still waits: the transfer pays no other payment either, and is unmatched, with the reason underpaid.',
    transactions: (units) => [[withoutDroppedDigits(units)]],
    becomes: 'PENDING',
    unmatched: ['underpaid'],
    alone: waitsForTheRest,
  },
} as const satisfies Record<string, Scenario>;

/** A percentage of the amount plus a small random part, so that no other payment on the wallet asks for the same amount. */
function share(units: bigint, fromPercent: number, toPercent: number): bigint {
  const share = (units * BigInt(randomInt(fromPercent * 10_000, toPercent * 10_000))) / 1_000_000n;
  if (share === units || share === 0n) throw new StackError('The amount is too small for this scenario.');
  return share;
}

function withoutDroppedDigits(units: bigint): bigint {
  const kept = units - (units % CENT);
  if (kept === units) throw new StackError('The amount has no digits behind the cents: there is nothing to drop.');
  if (kept === 0n) throw new StackError('The amount is less than a cent: nothing would be left to pay.');
  return kept;
}
