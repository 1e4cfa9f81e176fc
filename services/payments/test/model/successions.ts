import fc from 'fast-check';
import { accept, ahead, arrived, next, often, reading, transfer, weighted } from './commands.ts';
import type { Call, Chain, Command } from './plan.ts';
import { cancelIt, clockTo, exactly, expireAll, newPayment, one, pastExpiry, pay, wait } from './story-parts.ts';

/*
 * Up to four payments of one slot, one after the other immediately or slowly, on a chain whose clock is right or wrong, with customers who
 * pay in time, too late, or for the order before; and then what anyone may do with money whose payment is not certain.
 */

const nothing: fc.Arbitrary<Command[]> = fc.constant([]);
const all = (...parts: fc.Arbitrary<Command>[]): fc.Arbitrary<Command[]> => fc.tuple(...parts);
const flat = (...parts: fc.Arbitrary<Command[]>[]): fc.Arbitrary<Command[]> =>
  fc.tuple(...parts).map((commands) => commands.flat());

/** Exact money near some edge of the newest payment, or of an earlier one. */
const exact: fc.Arbitrary<Chain> = fc
  .record({ transfer, at: arrived, ahead, reading, place: weighted([3, fc.constant(0)], [2, fc.nat(3)]) })
  .map(({ transfer: any, ...said }) => ({ ...any, ...said, amount: 'exact', self: false }));

/** A merchant's orders: each payment has its own or none, or all are for one order. */
const ordersOf: fc.Arbitrary<fc.Arbitrary<number>> = fc.constantFrom(fc.constantFrom(0, 1, 1, 2), fc.constant(1));

const payment = (order: fc.Arbitrary<number>) =>
  fc.record({ order, merchant: often<number>(4, 0, 1) }).chain((more) => newPayment(0, more));

const ending: fc.Arbitrary<Command[]> = weighted<Command[]>(
  [4, all(exactly(cancelIt))],
  [3, all(pastExpiry, exactly(expireAll(false)))],
  [1, all(clockTo('expiry', fc.constant(1500)), one(exact), exactly(expireAll(false)))],
  [1, all(clockTo('expiry', fc.constant(2000)), one(exact), exactly(cancelIt))],
  [1, all(exactly(pay(true)))],
  [1, nothing],
);
const pause: fc.Arbitrary<Command[]> = weighted<Command[]>(
  [4, nothing],
  [3, fc.constantFrom(900, 3000, 20_000, 300_000, 3_590_000, 3_601_000).chain((time) => all(wait(time)))],
);
const money: fc.Arbitrary<Command[]> = weighted<Command[]>([3, nothing], [2, all(one(exact))]);

const link = (order: fc.Arbitrary<number>): fc.Arbitrary<Command[]> =>
  flat(all(payment(order)), pause, money, ending, pause);

const details = fc.nat(3).map((place): Command => ({ do: 'details', place, by: 'owner' }));
const takeIt: fc.Arbitrary<Call> = accept.chain((call) => fc.nat(3).map((place) => ({ ...call, place })));
const afterwards: fc.Arbitrary<Command[]> = flat(
  fc.array(one(exact), { minLength: 1, maxLength: 3 }),
  fc.array(weighted<Command>([3, one(next)], [2, details], [3, one(takeIt)]), { maxLength: 5 }),
  weighted<Command[]>([1, nothing], [1, all(pastExpiry, exactly(expireAll(false)))]),
  fc.array(details, { minLength: 1, maxLength: 3 }),
);

export const succession: fc.Arbitrary<Command[]> = fc
  .tuple(fc.integer({ min: 1, max: 3 }), ordersOf)
  .chain(([length, order]) => flat(...Array.from({ length }, () => link(order)), all(payment(order)), afterwards));
