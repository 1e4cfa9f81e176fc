import fc from 'fast-check';
import { cancel, command, create, edge, expire, next, often, transfer, weighted } from './commands.ts';
import type { Call, Command, MerchantStart, Plan } from './plan.ts';

/* Whole runs: commands by chance, and between them stories that chance alone would seldom tell. */

const one = (of: fc.Arbitrary<Call>): fc.Arbitrary<Command> => fc.record({ do: fc.constant('one' as const), call: of });
const always = <T>(command: T): fc.Arbitrary<T> => fc.constant(command);
const pastExpiry = always<Command>({ do: 'clock', move: { to: 'expiry', of: 0, milliseconds: 1 } });
const newOne = (wallet: number): fc.Arbitrary<Command> =>
  always({
    do: 'one',
    call: { do: 'create', merchant: 0, key: 0, amount: 2, wallet, network: 0, description: 0 },
  });
const expireNow = (old: boolean): fc.Arbitrary<Command> =>
  always({ do: 'one', call: { do: 'expire', scanned: { upTo: 'now', milliseconds: 0 }, old, unknownWallet: false } });
const exact = (confirmed: boolean): Call => ({
  ...{ do: 'transfer', place: 0, amount: 'exact', at: { near: 'now' }, confirmed, silent: false },
});

const story: fc.Arbitrary<Command[]> = weighted<Command[]>(
  [60, fc.tuple(command)],
  // Two payments, two wallets, one question.
  [
    2,
    fc.tuple(
      newOne(1),
      newOne(2),
      pastExpiry,
      fc.boolean().map((unknownWallet): Command => ({
        do: 'one',
        call: { do: 'expire', scanned: { upTo: 'now', milliseconds: 0 }, old: false, unknownWallet },
      })),
    ),
  ],
  // A slot is paid, used again and paid again; or cancelled, used again in the same second and paid at once.
  [
    2,
    fc.tuple(
      newOne(1),
      fc.boolean().map((confirmed): Command => ({ do: 'one', call: exact(confirmed) })),
      newOne(1),
      one(transfer),
    ),
  ],
  [
    2,
    fc.tuple(
      newOne(0),
      always<Command>({ do: 'one', call: { do: 'cancel', place: 0, by: 'owner', unknown: false } }),
      newOne(0),
      fc.constantFrom(-1, 0).map((seconds): Command => ({
        do: 'one',
        call: { ...exact(true), at: { near: 'creation', seconds } } as Call,
      })),
    ),
  ],
  // The same, with the money of a moment before the second payment, while that is being cancelled.
  [
    2,
    fc.tuple(
      newOne(0),
      always<Command>({ do: 'one', call: { do: 'cancel', place: 0, by: 'owner', unknown: false } }),
      always<Command>({ do: 'clock', move: { by: 14_000 } }),
      newOne(0),
      fc.record({
        do: fc.constant('race' as const),
        calls: fc.tuple(
          fc
            .boolean()
            .map((confirmed): Call => ({ ...exact(confirmed), at: { near: 'creation', seconds: -1 } }) as Call),
          cancel,
        ),
        choices: fc.array(fc.nat(7), { maxLength: 12, size: 'max' }),
      }),
    ),
  ],
  // Several creations for the last of a quota.
  [
    2,
    fc.tuple(
      always<Command>({ do: 'policy', merchant: 0, change: { change: 'one more' }, silent: false }),
      fc.record({
        do: fc.constant('race' as const),
        calls: fc
          .tuple(create, create, create)
          .map((calls) => calls.map((call): Call => ({ ...call, merchant: 0 }) as Call)),
        choices: fc.array(fc.nat(7), { maxLength: 12, size: 'max' }),
      }),
    ),
  ],
  // chain-watcher repeats what a reorganisation has undone.
  [
    1,
    fc.tuple(
      newOne(0),
      always<Command>({ do: 'one', call: exact(false) }),
      always<Command>({
        do: 'one',
        call: { do: 'next', place: 0, phase: 'retracted', at: null, under: false, silent: false },
      }),
      pastExpiry,
      expireNow(true),
    ),
  ],
  // A transfer is seen, and then becomes whatever it becomes.
  [3, fc.tuple(newOne(1), always<Command>({ do: 'one', call: exact(false) }), one(next), one(next))],
  // A key is used again when its reply is forgotten, or about to be.
  [
    1,
    fc.tuple(
      newOne(0),
      fc.record({
        do: fc.constant('clock' as const),
        move: fc.record({
          to: fc.constant('end of reply' as const),
          of: fc.constant(0),
          milliseconds: fc.constantFrom(-3, -2, -1),
        }),
      }),
      expireNow(false),
      always<Command>({ do: 'one', call: { do: 'repeat', place: 0, amount: 'same text', merchant: null } }),
    ),
  ],
  // A message was lost, and asking finds the money.
  [
    1,
    fc.tuple(
      newOne(0),
      always<Command>({ do: 'one', call: { ...exact(true), silent: true } as Call }),
      pastExpiry,
      one(expire),
    ),
  ],
  [
    1,
    fc.tuple(
      always<Command>({ do: 'policy', merchant: 0, change: { change: 'pause' }, silent: false }),
      one(create),
      always<Command>({ do: 'policy', merchant: 0, change: { change: 'resume' }, silent: false }),
    ),
  ],
  // The chain is scanned exactly as far as is needed, or a millisecond less.
  [
    1,
    fc.tuple(
      newOne(0),
      pastExpiry,
      fc.constantFrom(-1, 0).map((milliseconds): Command => ({
        do: 'one',
        call: { do: 'expire', scanned: { upTo: 'expiry', milliseconds }, old: false, unknownWallet: false },
      })),
    ),
  ],
  // What quota, or webhook-dispatcher, would have to be asked, while it gives no answer.
  [
    1,
    fc.tuple(
      always<Command>({ do: 'policy', merchant: 0, change: { change: 'pause' }, silent: false }),
      always<Command>({ do: 'outage', who: 'quota', down: true }),
      one(create),
      always<Command>({ do: 'outage', who: 'quota', down: false }),
      always<Command>({ do: 'policy', merchant: 0, change: { change: 'resume' }, silent: true }),
      one(create),
    ),
  ],
  // A legacy account becomes a beta, which is activated and ends.
  [
    2,
    fc.tuple(
      one(create),
      ...(['move to beta', 'activate'] as const).map((change) =>
        always<Command>({ do: 'policy', merchant: 0, change: { change }, silent: false }),
      ),
      one(create),
      fc.record({
        do: fc.constant('clock' as const),
        move: fc.record({ to: fc.constant('end of beta' as const), of: fc.constant(0), milliseconds: edge }),
      }),
      one(create),
      always<Command>({ do: 'policy', merchant: 0, change: { change: 'extend' }, silent: false }),
    ),
  ],
  [
    1,
    fc.tuple(
      newOne(2),
      always<Command>({ do: 'outage', who: 'chain', down: true }),
      pastExpiry,
      one(expire),
      always<Command>({ do: 'outage', who: 'chain', down: false }),
    ),
  ],
  // The customer pays while the merchant cancels.
  [
    2,
    fc.tuple(
      newOne(1),
      fc.record({
        do: fc.constant('race' as const),
        calls: fc.tuple(fc.boolean().map(exact), cancel),
        choices: fc.array(fc.nat(7), { maxLength: 12, size: 'max' }),
      }),
    ),
  ],
);

const merchantStart = (rarely: number): fc.Arbitrary<MerchantStart> =>
  fc.record({
    beta: often(rarely, false, true),
    active: often(3 * rarely, true, false),
    total: fc.constantFrom(50, 50, 3, 6),
    daily: fc.constantFrom(null, null, 2, 4),
    policy: often<MerchantStart['policy']>(3 * rarely, 'payments', 'owner', 'nobody'),
    webhook: often<MerchantStart['webhook']>(3 * rarely, 'payments', 'owner', 'nobody'),
  });

/** A whole run. */
export const plan: fc.Arbitrary<Plan> = fc.record({
  ttlSeconds: fc.constantFrom(20, 60, 1800),
  walletBinding: often(3, true, false),
  // A quiet day; shortly before midnight; and before the end of a month, where replies get their next partition.
  startsAt: fc.constantFrom('2031-03-11T12:00:00.000Z', '2031-03-11T23:59:30.250Z', '2031-03-31T23:59:50.999Z'),
  wholeSeconds: often(2, false, true),
  // The first one, who makes most of the payments, can mostly make them.
  merchants: fc.tuple(merchantStart(9), merchantStart(2), merchantStart(2)),
  stories: fc.array(fc.record({ waitMs: fc.constantFrom(1, 1, 137, 1000), commands: story }), {
    minLength: 1,
    maxLength: 40,
    size: 'max',
  }),
});
