import { randomInt } from 'node:crypto';
import type { PaymentStatus, UnmatchedReason } from '@quittance/contracts/api/payment.ts';
import { StackError } from '../stack/directory.ts';

/** A way of paying, and the outcome that the rules require. Amounts are in millionths of a USDT. */
export type Scenario = {
  about: string;
  /** The outcome, for people. */
  should: string;
  /** The transfers of each transaction. @throws StackError if the amount is too small for this scenario. */
  transactions(units: bigint): bigint[][];
  becomes: PaymentStatus;
  /** The expected reason of each unmatched transfer. */
  unmatched: readonly UnmatchedReason[];
  /** The payment ends before the transfer is sent. */
  afterEnd?: true;
};

const CENT = 10_000n;

export const scenarios = {
  pay: {
    about: 'pays exactly what is asked for',
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
  },
  over: {
    about: 'pays a few percent too much',
    should: 'The payment still waits: the transfer is unmatched, with the reason overpaid. Its merchant may accept it.',
    transactions: (units) => [[share(units, 101, 108)]],
    becomes: 'PENDING',
    unmatched: ['overpaid'],
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
  },
  three: {
    about: 'pays three times in one transaction',
    should: 'One of the three transfers pays: PAID, with one webhook. The others are unmatched: duplicates.',
    transactions: (units) => [[units, units, units]],
    becomes: 'PAID',
    unmatched: ['duplicate', 'duplicate'],
  },
  'dropped-digits': {
    about: 'pays without the digits behind the cents, as a hurried customer does',
    should:
      'The payment still waits: the transfer pays no other payment either, and is unmatched, with the reason underpaid.',
    transactions: (units) => [[withoutDroppedDigits(units)]],
    becomes: 'PENDING',
    unmatched: ['underpaid'],
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
