import fc from 'fast-check';
import { accept, createBeside, createOwn, endRest, moved, next, often, weighted } from './commands.ts';
import type { AmountPaid, Arrived, Call, Chain, Command } from './plan.ts';
import {
  becomes,
  cancelIt,
  clockTo,
  exactly,
  expireAll,
  newOwn,
  newPayment,
  one,
  pastExpiry,
  pay,
  race,
  wait,
} from './story-parts.ts';

/*
 * Payments with an address of their own: money in parts, in time and too late, news about the parts, ends, rests and their early ends, other
 * payments on the address, and acceptance.
 */

const nothing: fc.Arbitrary<Command[]> = fc.constant([]);
const all = (...parts: fc.Arbitrary<Command>[]): fc.Arbitrary<Command[]> => fc.tuple(...parts);
const flat = (...parts: fc.Arbitrary<Command[]>[]): fc.Arbitrary<Command[]> =>
  fc.tuple(...parts).map((commands) => commands.flat());

const amount = fc.constantFrom<AmountPaid[]>(60, 50, 40, 30, 'missing', 'missing', 'exact', 'under', 'over', 0.5, 250);
const at = weighted<Arrived>(
  [5, fc.constant({ near: 'now' })],
  [2, fc.constant({ near: 'middle' })],
  [2, fc.constantFrom(-1, 0, 1, 20).map((seconds): Arrived => ({ near: 'expiry', seconds }))],
  [1, fc.constantFrom(-16, -1, 0).map((seconds): Arrived => ({ near: 'creation', seconds }))],
);
const part: fc.Arbitrary<Chain> = fc
  .record({
    ...{ amount, at },
    confirmed: often(2, true, false),
    silent: often(8, false, true),
    place: often<number>(5, 0, 1),
    reading: often<'live' | 'at once, not live' | 'now' | 'not said'>(
      5,
      'live',
      'at once, not live',
      'now',
      'not said',
    ),
  })
  .map((said) => ({ ...pay(true), ...said }));
const news: fc.Arbitrary<Call> = weighted<Call>(
  [5, next],
  [1, moved],
  [1, fc.nat(3).map((place): Call => ({ do: 'deliver', place }))],
);
const batch: fc.Arbitrary<Call> = fc
  .array(weighted<Chain>([3, part], [2, next]), { minLength: 2, maxLength: 4 })
  .map((parts) => ({ do: 'batch', parts }));
const money = fc.array(weighted<Command>([5, one(part)], [3, one(news)], [2, one(batch)]), {
  minLength: 1,
  maxLength: 4,
  size: 'max',
});

const own = fc.constantFrom('wallet' as const, 'pool' as const);
const create: fc.Arbitrary<Command> = fc
  .record({
    own,
    order: often<number>(3, 0, 1),
    percent: often<number | null>(2, null, 50, 90),
    wallet: often(4, 3, 4),
  })
  .chain(({ own: which, ...more }) => newOwn(which, more));

const ending: fc.Arbitrary<Command[]> = weighted<Command[]>(
  [4, all(exactly(cancelIt))],
  [4, all(pastExpiry, exactly(expireAll(false)))],
  [1, all(clockTo('expiry', fc.constant(1500)), one(part), exactly(expireAll(false)))],
  [1, all(clockTo('expiry', fc.constant(1500)), one(part), exactly(cancelIt))],
  [2, nothing],
);
const details = fc.nat(2).map((place): Command => ({ do: 'details', place, by: 'owner' }));
const look = fc.array(details, { minLength: 1, maxLength: 2 });
const takeIt: fc.Arbitrary<Command> = one(
  fc.record({ accept, place: often<number>(2, 0, 1) }).map(({ accept: call, place }) => ({ ...call, place })),
);
const rest = weighted<Command[]>(
  [3, nothing],
  [3, all(one(endRest))],
  [1, all(wait(3_601_000))],
  [
    1,
    all(
      clockTo(
        'expiry',
        fc.constantFrom(3_600_000, 86_400_000, 2_592_000_000).map((time) => time - 1),
      ),
    ),
  ],
);
const others = fc.array(weighted<Command>([2, one(createBeside)], [2, one(createOwn)], [1, one(endRest)]), {
  maxLength: 2,
});
const together = race(
  fc.oneof<fc.Arbitrary<Call>[]>(part, batch, news),
  fc.oneof<fc.Arbitrary<Call>[]>(part, news, fc.constant(cancelIt), accept),
);

/** One payment, and whatever happens to it. */
const life = flat(
  all(create),
  money,
  weighted<Command[]>([2, nothing], [1, all(together)]),
  ending,
  fc.array(weighted<Command>([3, one(part)], [2, one(news)], [3, takeIt]), { maxLength: 3 }),
  look,
);
/** The address is given again, and both payments may get money. */
const succession = flat(
  life,
  weighted<Command[]>([1, nothing], [3, all(exactly(cancelIt), exactly({ do: 'end rest', place: 0, by: 'owner' }))]),
  rest,
  weighted<Command[]>([3, all(create)], [1, others]),
  money,
  fc.array(takeIt, { maxLength: 2 }),
  ending,
  look,
);
/** Creations that compete for the addresses of a pool, or for one address. */
const competition = flat(
  fc.array(create, { minLength: 1, maxLength: 2 }),
  all(race(createOwn, fc.oneof(createOwn, createBeside), fc.oneof(createBeside, endRest, fc.constant(cancelIt)))),
  others,
  look,
);

/** Two parts are seen, and one of them becomes what it becomes. */
const doubt = flat(
  all(newOwn('wallet'), exactly({ ...pay(false), amount: 60 }), exactly({ ...pay(false), amount: 'missing' })),
  all(one(fc.nat(1).map((place) => becomes(place, 'retracted'))), one(next), one(next)),
  look,
);
/** A reorganisation moves money between a wallet that payments share and an address of its own. */
const move = flat(
  all(newOwn('wallet'), newPayment(0), one(fc.boolean().map((confirmed) => pay(confirmed)))),
  all(one(moved.map((call) => ({ ...call, place: 0, wallet: 3 }))), one(news), one(part)),
  all(one(moved.map((call) => ({ ...call, place: 0, wallet: 0 })))),
  look,
);

export const ownAddress: fc.Arbitrary<Command[]> = weighted<Command[]>(
  [8, life],
  [10, succession],
  [4, competition],
  [2, doubt],
  [1, move],
);
