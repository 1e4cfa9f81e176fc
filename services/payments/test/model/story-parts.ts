import fc from 'fast-check';
import type { Arrived, Call, Chain, Command, PolicyChange } from './plan.ts';

/* The parts of the stories in scenarios.ts and successions.ts. */

export const one = (call: fc.Arbitrary<Call>): fc.Arbitrary<Command> =>
  fc.record({ do: fc.constant('one' as const), call });
export const exactly = (call: Call): fc.Arbitrary<Command> => fc.constant({ do: 'one', call });
export const race = (...calls: fc.Arbitrary<Call>[]): fc.Arbitrary<Command> =>
  fc.record({
    do: fc.constant('race' as const),
    calls: fc.tuple(...calls),
    choices: fc.array(fc.nat(7), { maxLength: 24, size: 'max' }),
  });

const create: Call = { do: 'create', merchant: 0, key: 0, amount: 2, wallet: 0, network: 0, description: 0, order: 0 };
export const newPayment = (wallet: number, more: Partial<Call & { do: 'create' }> = {}) =>
  exactly({ ...create, wallet, ...more });
export const newOwn = (own: 'wallet' | 'pool', more: Partial<Call & { do: 'create' }> = {}) =>
  newPayment(3, { own, ...more });
export const pay = (confirmed: boolean, at: Arrived = { near: 'now' }, silent = false): Chain & { do: 'transfer' } => ({
  ...{ do: 'transfer', place: 0, amount: 'exact', at, confirmed, silent },
  ...{ ahead: 0, reading: 'live', self: false },
});
export const becomes = (place: number, phase: 'confirmed' | 'retracted'): Chain & { do: 'next' } => ({
  ...{ do: 'next', place, phase, at: null, ahead: 0, under: false, reading: 'as before', silent: false },
});
export const cancelIt: Call = { do: 'cancel', place: 0, by: 'owner', unknown: false };
export const expireAll = (old: boolean, unknownWallet = false): Call => ({
  ...{ do: 'expire', scanned: { upTo: 'now', milliseconds: 0 }, old, unknownWallet },
});
export const policy = (change: PolicyChange, silent = false): fc.Arbitrary<Command> =>
  fc.constant({ do: 'policy', merchant: 0, change, silent });
export const outage = (who: 'quota' | 'chain' | 'rates', down: boolean): fc.Arbitrary<Command> =>
  fc.constant({ do: 'outage', who, down });
export const wait = (milliseconds: number): fc.Arbitrary<Command> =>
  fc.constant({ do: 'clock', move: { by: milliseconds } });
export const clockTo = (to: 'expiry' | 'end of reply' | 'end of beta', milliseconds: fc.Arbitrary<number>) =>
  fc.record({
    do: fc.constant('clock' as const),
    move: fc.record({ to: fc.constant(to), of: fc.constant(0), milliseconds }),
  });
export const pastExpiry = clockTo('expiry', fc.constant(1));
