import { describe, expect, test } from '@jest/globals';
import { at, live, MINUTE, payment } from './histories.ts';
import { addUp, heldUntil, longestUnused, sharedUntil, type Tenant, tenantsOf, whoseOwnMoney } from './own-address.ts';
import type { Arrival } from './whose-money.ts';

const HOUR = 60 * MINUTE;

/** One that has its address for itself, which rests for an hour. */
const own = (id: string, created: string, change: Partial<Tenant> & { cancelled?: string } = {}): Tenant => ({
  ...{ rest: HOUR, paidAt: null, releasedAt: null },
  ...payment(id, created, change),
  ...change,
});

function verdict(wallet: readonly Tenant[], arrival: Arrival, claimants: readonly Tenant[] = []): string {
  const whose = whoseOwnMoney(tenantsOf(wallet, arrival), claimants, arrival, () => false);
  if (whose === null) return 'shared';
  if ('counts' in whose) return `counts for ${whose.counts.id}`;
  return `${whose.reason} ${whose.among.map(({ id }) => id).join(' and ')}`;
}

describe('money on an address of its own, in the words of the model', () => {
  const a = own('A', '10:00:00');
  const ended = own('A', '10:00:00', { status: 'EXPIRED' });
  const paid = own('A', '10:00:00', { status: 'PAID', paidAt: at('10:10:00') });

  test.each<[string, Tenant, Arrival, string]>([
    ['in time', a, live('10:10:00'), 'counts for A'],
    ['after its time, while it is unfinished', a, live('10:31:00'), 'null A'],
    ['in time, after its end', ended, live('10:10:00'), 'counts for A'],
    ['in its rest', ended, live('11:29:59'), 'late A'],
    ['in its rest, cancelled', own('A', '10:00:00', { cancelled: '10:05:00' }), live('10:06:00'), 'after_cancel A'],
    ['after it was paid', paid, live('11:09:59'), 'overpaid A'],
  ])('%s', (_, payments, arrival, expected) => expect(verdict([payments], arrival)).toBe(expected));

  test('is nobody’s after the rest, and when it was known before the payment', () => {
    expect(tenantsOf([ended], live('11:30:00'))).toEqual([]);
    expect(tenantsOf([paid], live('11:10:00'))).toEqual([]);
    expect(tenantsOf([a], { blockTime: at('10:00:00'), firstSeen: at('09:59:59'), live: false })).toEqual([]);
    // It was accepted when its rest was over.
    expect(tenantsOf([own('A', '10:00:00', { status: 'PAID', paidAt: at('12:00:00') })], live('12:00:01'))).toEqual([]);
  });

  test('may be for each payment of rests that were ended early, but for PAID ones', () => {
    const before = own('A', '10:00:00', { cancelled: '10:05:00', releasedAt: at('10:06:00') });
    const b = own('B', '10:07:00');
    expect(verdict([before, b], live('10:08:00'))).toBe('ambiguous B and A');
    expect(verdict([before], live('10:08:00'), [own('S', '10:07:00', { rest: null })])).toBe('ambiguous S and A');
    expect(verdict([own('A', '10:00:00', { cancelled: '10:05:00' })], live('10:08:00'), [b])).toBe('after_cancel A');
    const sameOrder = own('S', '10:07:00', { rest: null, orderId: 'A' });
    expect(verdict([before], live('10:08:00'), [sameOrder])).toBe('shared');
  });

  test('adds up in the order of the chain', () => {
    const part = (units: bigint, isConfirmed = true) => ({ units, isConfirmed });
    const parts = [part(3n), part(5n, false), part(2n), part(4n)];
    expect(addUp(parts, { asked: 10n, percent: null })).toEqual({ confirmed: null, seen: parts[2] });
    expect(addUp(parts, { asked: 10n, percent: 90 })).toEqual({ confirmed: parts[3], seen: parts[2] });
    expect(addUp([], { asked: 10n, percent: 50 })).toEqual({ confirmed: null, seen: null });
  });
});

describe('an address, in the words of the model', () => {
  const ended = own('A', '10:00:00', { status: 'EXPIRED' });

  test('is held while its payment is unfinished, and until its rest is over or ended', () => {
    expect(heldUntil([own('A', '10:00:00')])).toBe(Infinity);
    expect(heldUntil([ended])).toBe(at('11:30:00'));
    expect(heldUntil([{ ...ended, releasedAt: at('10:40:00') }])).toBe(at('10:40:00'));
    expect(heldUntil([ended, own('B', '12:00:00')])).toBe(Infinity);
    expect(sharedUntil([ended], HOUR)).toBe(-Infinity);
    expect(sharedUntil([{ ...ended, rest: null }], 2 * HOUR)).toBe(at('12:30:00'));
  });

  test('of a pool is given the longest unused first', () => {
    const listed = (address: string, ...payments: Tenant[]) => ({
      ...{ address, payments, isForeign: false, isContested: false },
    });
    const [used, older, never] = [
      listed('used', own('A', '11:00:00', { status: 'EXPIRED' })),
      listed('older', ended),
      listed('never'),
    ];
    expect(longestUnused([used, older])).toBe(older);
    expect(longestUnused([used, older, never])).toBe(never);
    expect(longestUnused([{ ...older, isContested: true }])).toBeUndefined();
  });
});
