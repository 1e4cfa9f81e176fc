import fc from 'fast-check';
import { cancel, command, create, edge, expire, next, often, transfer, weighted } from './commands.ts';
import { ownAddress } from './own-stories.ts';
import type { AmountPaid, Call, Command, MerchantStart, Plan } from './plan.ts';
import {
  becomes,
  cancelIt,
  clockTo,
  exactly,
  expireAll,
  newPayment,
  one,
  outage,
  pastExpiry,
  pay,
  policy,
  race,
  wait,
} from './story-parts.ts';
import { succession } from './successions.ts';

/* Whole runs: random commands, and between them stories that random commands would seldom produce. */

const ofFirstMerchant = (call: Call): Call => (call.do === 'create' ? { ...call, merchant: 0 } : call);
const forQuota = create.map(ofFirstMerchant);

/** The newest payment is cancelled, or expires. */
const end = [weighted<Command>([1, exactly(cancelIt)], [1, pastExpiry]), exactly(expireAll(false))];
const inexact = one(
  fc.constantFrom<AmountPaid[]>('exact', 'exact', 'under', 'over', 60).map((amount): Call => ({
    ...pay(true),
    amount,
  })),
);
const acceptIt = one(
  fc.constantFrom('owner' as const, 'operator' as const).map((by): Call => ({
    ...{ do: 'accept', place: 0, transfer: 0, by, confirm: 'right' },
  })),
);

/** The weight of each story, compared with single commands; its subject; and its steps. */
const stories: [weight: number, about: string, steps: fc.Arbitrary<Command>[]][] = [
  [
    2,
    'two payments, two wallets, one question of the expiry loop',
    [newPayment(1), newPayment(2), pastExpiry, one(fc.boolean().map((unknown) => expireAll(false, unknown)))],
  ],
  [
    2,
    'a slot is paid, used again and paid again',
    [newPayment(1), one(fc.boolean().map((confirmed) => pay(confirmed))), newPayment(1), one(transfer)],
  ],
  [
    2,
    'a slot is cancelled, used again in the same second and paid at once',
    [
      newPayment(0),
      exactly(cancelIt),
      newPayment(0),
      one(fc.constantFrom(-1, 0).map((seconds) => pay(true, { near: 'creation', seconds }))),
    ],
  ],
  [
    2,
    'money from a moment before the second payment of a slot, while that one is being cancelled',
    [
      newPayment(0),
      exactly(cancelIt),
      wait(14_000),
      newPayment(0),
      race(
        fc.boolean().map((confirmed) => pay(confirmed, { near: 'creation', seconds: -1 })),
        cancel,
      ),
    ],
  ],
  [
    2,
    'several creations for the last of a quota',
    [policy({ change: 'one more' }), race(forQuota, forQuota, forQuota)],
  ],
  [
    2,
    'the customer pays while the merchant cancels',
    [
      newPayment(1),
      race(
        fc.boolean().map((confirmed) => pay(confirmed)),
        cancel,
      ),
    ],
  ],
  [
    1,
    'in one batch, the first transfer is retracted and the second confirmed, whichever comes first',
    [
      newPayment(1),
      exactly(pay(false)),
      exactly(pay(false)),
      one(
        fc.boolean().map((turned): Call => {
          const parts = [becomes(1, 'retracted'), becomes(turned ? 1 : 0, 'confirmed')];
          return { do: 'batch', parts: turned ? parts.toReversed() : parts };
        }),
      ),
    ],
  ],
  [
    1,
    'somebody accepts what the wallet sent to itself',
    [newPayment(0), exactly({ ...pay(true), self: true }), acceptIt],
  ],
  [3, 'somebody accepts money that came too late, or of another amount', [newPayment(0), ...end, inexact, acceptIt]],
  [
    2,
    'somebody accepts money that may be for either of two payments',
    [
      newPayment(0),
      ...end,
      fc.constantFrom(1, 2).chain((amount) => newPayment(0, { amount })),
      ...end,
      inexact,
      acceptIt,
    ],
  ],
  [1, 'a customer pays twice', [newPayment(1), race(fc.constant(pay(true)), fc.constant(pay(true)))]],
  [3, 'a transfer is seen, and becomes what it becomes', [newPayment(1), exactly(pay(false)), one(next), one(next)]],
  [
    1,
    'of several that wanted to pay, the first is retracted',
    [
      newPayment(2),
      ...[false, false, true].map((confirmed) => exactly(pay(confirmed))),
      exactly(becomes(2, 'retracted')),
    ],
  ],
  [
    1,
    'the first is retracted while the second is confirmed',
    [
      newPayment(2),
      exactly(pay(false)),
      exactly(pay(false)),
      race(fc.constant(becomes(1, 'retracted')), fc.constant(becomes(0, 'confirmed'))),
    ],
  ],
  [
    1,
    'a reorganisation moves money of a CHECKING payment to where a late payer is possible',
    [
      newPayment(0),
      exactly(cancelIt),
      newPayment(0),
      wait(10_000),
      exactly(pay(false)),
      exactly({ ...becomes(0, 'confirmed'), phase: 'seen', at: { near: 'creation', seconds: 2 } }),
    ],
  ],
  [
    1,
    'chain-watcher repeats what a reorganisation has undone',
    [newPayment(0), exactly(pay(false)), exactly(becomes(0, 'retracted')), pastExpiry, exactly(expireAll(true))],
  ],
  [
    1,
    'a message was lost, and asking finds the money',
    [newPayment(0), exactly(pay(true, { near: 'now' }, true)), pastExpiry, one(expire)],
  ],
  [
    1,
    'the chain is scanned exactly as far as is needed, or a millisecond less',
    [
      newPayment(0),
      pastExpiry,
      one(
        fc.constantFrom(-1, 0).map((milliseconds): Call => ({
          ...{ do: 'expire', scanned: { upTo: 'expiry', milliseconds }, old: false, unknownWallet: false },
        })),
      ),
    ],
  ],
  [
    1,
    'the chain cannot be asked',
    [newPayment(2), outage('chain', true), pastExpiry, one(expire), outage('chain', false)],
  ],
  [
    1,
    'a key is used again when its reply is forgotten, or about to be',
    [
      newPayment(0),
      clockTo('end of reply', fc.constantFrom(-3, -2, -1)),
      exactly(expireAll(false)),
      exactly({ do: 'repeat', place: 0, amount: 'same text', merchant: null }),
    ],
  ],
  [
    2,
    'a price is asked for again when the rate is another one',
    [
      newPayment(1, { priced: true }),
      wait(60_000),
      one(
        fc.constantFrom('same text' as const, 'same value' as const, 'another' as const).map((amount): Call => ({
          ...{ do: 'repeat', place: 0, amount, merchant: null },
        })),
      ),
    ],
  ],
  [
    1,
    'prices while the exchanges say nothing',
    [
      wait(60_000),
      outage('rates', true),
      fc.constantFrom(299_998, 299_999, 300_000).chain((milliseconds) => wait(milliseconds)),
      newPayment(1, { priced: true }),
      newPayment(2),
      outage('rates', false),
      newPayment(2, { priced: true }),
    ],
  ],
  [1, 'a pause', [policy({ change: 'pause' }), one(create), policy({ change: 'resume' })]],
  [
    1,
    'quota gives no answer where it would have to be asked, and then permits before its message comes',
    [
      policy({ change: 'pause' }),
      outage('quota', true),
      one(create),
      outage('quota', false),
      policy({ change: 'resume' }, true),
      one(create),
    ],
  ],
  [
    2,
    'a legacy account becomes a beta, which is activated and ends',
    [
      one(create),
      policy({ change: 'move to beta' }),
      policy({ change: 'activate' }),
      one(create),
      clockTo('end of beta', edge),
      one(create),
      policy({ change: 'extend' }),
    ],
  ],
];

const story: fc.Arbitrary<Command[]> = weighted<Command[]>(
  [60, fc.tuple(command)],
  [10, succession],
  [14, ownAddress],
  ...stories.map(([weight, , steps]): [number, fc.Arbitrary<Command[]>] => [weight, fc.tuple(...steps)]),
);

const merchantStart = (rarely: number): fc.Arbitrary<MerchantStart> =>
  fc.record({
    beta: often(rarely, false, true),
    active: often(3 * rarely, true, false),
    total: fc.constantFrom(50, 50, 3, 6),
    daily: fc.constantFrom(null, null, 2, 4),
    policy: often<MerchantStart['policy']>(3 * rarely, 'payments', 'owner', 'nobody'),
    webhook: often<MerchantStart['webhook']>(3 * rarely, 'payments', 'owner', 'nobody'),
    events: fc.constantFrom('nothing' as const, 'unmatched' as const, 'all' as const),
  });

/** A whole run. */
export const plan: fc.Arbitrary<Plan> = fc.record({
  ttlSeconds: fc.constantFrom(20, 60, 1800),
  walletBinding: often(3, true, false),
  // A quiet day; shortly before midnight; and before the end of a month, when replies get their next partition.
  startsAt: fc.constantFrom('2031-03-11T12:00:00.000Z', '2031-03-11T23:59:30.250Z', '2031-03-31T23:59:50.999Z'),
  wholeSeconds: often(2, false, true),
  // The first one, who makes most of the payments, can usually make them.
  merchants: fc.tuple(merchantStart(9), merchantStart(2), merchantStart(2)),
  stories: fc.array(fc.record({ waitMs: fc.constantFrom(1, 1, 137, 1000), commands: story }), {
    minLength: 1,
    maxLength: 40,
    size: 'max',
  }),
});
