import fc from 'fast-check';
import {
  type AmountPaid,
  amounts,
  type Arrived,
  type Call,
  type Chain,
  type Command,
  type Move,
  type PolicyChange,
  type Reading,
  type Scanned,
} from './plan.ts';

/* Random parts of single commands. */

export const weighted = <T>(...choices: [number, fc.Arbitrary<T>][]): fc.Arbitrary<T> =>
  fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })));

export const often = <T>(weight: number, usual: T, ...others: T[]): fc.Arbitrary<T> =>
  weighted([weight, fc.constant(usual)], [1, fc.constantFrom(...others)]);

const place = weighted<number>([5, fc.constant(0)], [2, fc.constant(1)], [2, fc.nat(6)]);
const merchant = weighted([5, fc.constant(0)], [2, fc.constant(1)], [1, fc.constant(2)]);
const wallet = weighted([4, fc.constant(0)], [2, fc.constant(1)], [1, fc.constant(2)]);
export const edge = fc.constantFrom(-1, 0, 1);

/** Around the edges of the rules: the five seconds in which no customer pays, and how far a chain's clock may be behind. */
const seconds = weighted<number>(
  [3, edge],
  [2, fc.constantFrom(4, 5, 6)],
  [1, fc.constantFrom(-16, -15, -14, 14, 15, 16, 20)],
);
export const arrived: fc.Arbitrary<Arrived> = weighted<Arrived>(
  [3, fc.record({ near: fc.constant('creation' as const), seconds })],
  [3, fc.record({ near: fc.constantFrom('expiry' as const, 'cancellation' as const), seconds: edge })],
  [4, fc.record({ near: fc.constantFrom('middle' as const, 'now' as const) })],
);
export const ahead = weighted<number>(
  [5, fc.constant(0)],
  [2, fc.constantFrom(-1, 1, -14, -15, -16)],
  [2, fc.constantFrom(-120, -48, -30, 30, 60, 120)],
);
export const reading = weighted<Reading>(
  [5, fc.constant('live' as const)],
  [2, fc.constantFrom('at once, not live' as const, 'now' as const)],
  [1, fc.constant('not said' as const)],
);

export const create: fc.Arbitrary<Call & { do: 'create' }> = fc.record({
  do: fc.constant('create' as const),
  merchant,
  // 0 is a key that nobody used.
  key: weighted([4, fc.constant(0)], [1, fc.integer({ min: 1, max: 3 })]),
  amount: fc.nat(amounts.length - 1),
  priced: often(5, false, true),
  wallet,
  network: often<number>(6, 0, 1),
  description: often<number>(5, 0, 1),
  order: weighted([2, fc.constant(0)], [2, fc.constant(1)], [1, fc.constant(2)]),
});
/** One with an address of its own: mostly one that is there for it. */
export const createOwn: fc.Arbitrary<Call> = fc
  .record({
    create,
    own: fc.constantFrom('wallet' as const, 'pool' as const),
    wallet: weighted([6, fc.constantFrom(3, 4)], [1, fc.nat(7)]),
    percent: often<number | null>(2, null, 50, 90, 99),
  })
  .map(({ create: call, ...own }) => ({ ...call, ...own }));
/** One that would share an address that others have for themselves. */
export const createBeside: fc.Arbitrary<Call> = fc
  .record({ create, wallet: fc.constantFrom(3, 4, 5, 6, 7) })
  .map(({ create: call, wallet: beside }) => ({ ...call, wallet: beside }));
export const endRest: fc.Arbitrary<Call> = fc.record({
  do: fc.constant('end rest' as const),
  place,
  by: often<'owner' | 'another'>(6, 'owner', 'another'),
});
export const moved = fc.record({
  do: fc.constant('moved' as const),
  place,
  wallet: fc.nat(7),
  phase: fc.constantFrom('seen' as const, 'confirmed' as const),
});
const repeat: fc.Arbitrary<Call> = fc.record({
  do: fc.constant('repeat' as const),
  place,
  amount: fc.constantFrom('same text' as const, 'same text' as const, 'same value' as const, 'another' as const),
  merchant: often<number | null>(6, null, 0, 1),
});
export const cancel: fc.Arbitrary<Call> = fc.record({
  do: fc.constant('cancel' as const),
  place,
  by: often<'owner' | 'another'>(6, 'owner', 'another'),
  unknown: often(8, false, true),
});
const paid: fc.Arbitrary<AmountPaid> = weighted<AmountPaid>(
  [10, fc.constant('exact' as const)],
  [2, fc.constantFrom('under' as const, 'over' as const, 'a hair over' as const)],
  [2, fc.constantFrom(60, 30, 0.5, 250)],
  [1, fc.constant('of another' as const)],
);
export const transfer = fc.record({
  do: fc.constant('transfer' as const),
  place,
  amount: paid,
  at: arrived,
  ahead,
  reading,
  self: often(25, false, true),
  confirmed: fc.boolean(),
  silent: often(4, false, true),
});
export const next = fc.record({
  do: fc.constant('next' as const),
  place,
  phase: fc.constantFrom('seen' as const, 'confirmed' as const, 'confirmed' as const, 'retracted' as const),
  at: weighted<Arrived | null>([3, fc.constant(null)], [1, arrived]),
  ahead,
  under: often(6, false, true),
  reading: often<'as before' | 'later' | 'not said'>(6, 'as before', 'later', 'not said'),
  silent: often(6, false, true),
});
const deliver = fc.record({ do: fc.constant('deliver' as const), place });
const batch: fc.Arbitrary<Call> = fc.record({
  do: fc.constant('batch' as const),
  parts: fc.array(weighted<Chain>([2, transfer], [2, next], [1, deliver]), { minLength: 2, maxLength: 4 }),
});
export const accept: fc.Arbitrary<Call & { do: 'accept' }> = fc.record({
  do: fc.constant('accept' as const),
  place,
  transfer: place,
  by: weighted<'owner' | 'operator' | 'another'>(
    [4, fc.constant('owner' as const)],
    [3, fc.constant('operator' as const)],
    [1, fc.constant('another' as const)],
  ),
  confirm: weighted<'right' | 'wrong' | 'missing'>(
    [4, fc.constant('right' as const)],
    [2, fc.constantFrom('wrong' as const, 'missing' as const)],
  ),
});
const deliverPolicy: fc.Arbitrary<Call> = fc.record({ do: fc.constant('deliver policy' as const), place });
export const expire: fc.Arbitrary<Call> = fc.record({
  do: fc.constant('expire' as const),
  scanned: weighted<Scanned>(
    [4, fc.record({ upTo: fc.constant('now' as const), milliseconds: fc.constant(0) })],
    [2, fc.record({ upTo: fc.constant('expiry' as const), milliseconds: edge })],
    [1, fc.constant({ upTo: 'nothing' as const })],
  ),
  old: often(5, false, true),
  unknownWallet: often(8, false, true),
});

const call: fc.Arbitrary<Call> = weighted<Call>(
  [9, create],
  [2, createOwn],
  [1, createBeside],
  [1, endRest],
  [1, moved],
  [4, repeat],
  [3, cancel],
  [7, transfer],
  [5, next],
  [2, deliver],
  [2, batch],
  [4, accept],
  [1, deliverPolicy],
  [3, expire],
  [1, fc.record({ do: fc.constant('limits' as const), merchant })],
  [1, fc.record({ do: fc.constant('public' as const), place })],
  [1, fc.record({ do: fc.constant('release' as const), wallet })],
);

/** Calls that affect each other: creations for one slot or key, or everything that can happen to one payment. */
const rivals: fc.Arbitrary<Call[]> = weighted<Call[]>(
  [2, fc.array(fc.oneof(create, repeat), { minLength: 2, maxLength: 4 })],
  [2, fc.array(fc.oneof<fc.Arbitrary<Call>[]>(cancel, transfer, next, deliver), { minLength: 2, maxLength: 4 })],
  [1, fc.array(fc.oneof<fc.Arbitrary<Call>[]>(cancel, transfer, expire), { minLength: 2, maxLength: 3 })],
  [1, fc.array(fc.oneof<fc.Arbitrary<Call>[]>(accept, accept, batch, cancel), { minLength: 2, maxLength: 3 })],
  [2, fc.array(call, { minLength: 2, maxLength: 4 })],
);

const policyChange: fc.Arbitrary<PolicyChange> = weighted<PolicyChange>(
  [
    4,
    fc.record({
      change: fc.constantFrom(
        'pause' as const,
        'resume' as const,
        'resume' as const,
        'block' as const,
        'unblock' as const,
        'unblock' as const,
      ),
    }),
  ],
  [2, fc.record({ change: fc.constantFrom('activate' as const, 'extend' as const, 'move to beta' as const) })],
  [
    3,
    fc.record({
      change: fc.constant('limits' as const),
      total: fc.constantFrom(0, 1, 2, 4, 50),
      daily: fc.constantFrom(null, 1, 2, 50),
    }),
  ],
);

const move: fc.Arbitrary<Move> = weighted<Move>(
  [5, fc.record({ to: fc.constant('expiry' as const), of: place, milliseconds: edge })],
  [1, fc.record({ to: fc.constant('end of beta' as const), of: merchant, milliseconds: edge })],
  [1, fc.record({ to: fc.constant('end of reply' as const), of: place, milliseconds: edge })],
  [1, fc.record({ to: fc.constant('midnight' as const), of: fc.constant(0), milliseconds: edge })],
  [3, fc.record({ by: fc.constantFrom(1, 400, 1000, 14_000, 60_000, 86_400_000) })],
);

export const command: fc.Arbitrary<Command> = weighted<Command>(
  [18, fc.record({ do: fc.constant('one' as const), call })],
  [
    6,
    fc.record({
      do: fc.constant('race' as const),
      calls: rivals,
      choices: fc.array(fc.nat(7), { maxLength: 30, size: 'max' }),
    }),
  ],
  [2, fc.record({ do: fc.constant('policy' as const), merchant, change: policyChange, silent: often(2, false, true) })],
  [1, fc.record({ do: fc.constant('webhook' as const), merchant })],
  [
    1,
    fc.record({
      do: fc.constant('outage' as const),
      who: fc.constantFrom('quota' as const, 'webhooks' as const, 'chain' as const, 'rates' as const),
      down: often(1, false, true),
    }),
  ],
  [4, fc.record({ do: fc.constant('clock' as const), move })],
  [2, fc.record({ do: fc.constant('details' as const), place, by: often<'owner' | 'another'>(5, 'owner', 'another') })],
  [
    1,
    fc.record({ do: fc.constant('list' as const), merchant, status: fc.nat(5), pageSize: fc.constantFrom(1, 2, 100) }),
  ],
);
