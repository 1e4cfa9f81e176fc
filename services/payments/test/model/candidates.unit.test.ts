import { describe, expect, test } from '@jest/globals';
import { acceptanceRefusal, type Asking, lateReason, nearBy } from './candidates.ts';
import { at, live, MINUTE, payment } from './histories.ts';

describe('money of another amount', () => {
  const wallet = [
    payment('ten', '09:00:00', { asked: 1000n }),
    payment('seven', '09:00:00', { asked: 700n }),
    payment('hundred', '09:00:00', { asked: 10_000n }),
    payment('paid', '09:00:00', { asked: 900n, status: 'PAID' }),
    payment('yesterday', '00:00:00', {
      createdAt: at('09:00:00') - 24.5 * 60 * MINUTE,
      expiresAt: at('09:00:00') - 24 * 60 * MINUTE,
      asked: 950n,
      status: 'EXPIRED',
    }),
  ];
  const amongFor = (carried: bigint, time: string): string[] =>
    nearBy(wallet, { ...live(time), carried }).among.map(({ id }) => id);

  test('may be for what waited or rested then, the nearest first; others only when none is near', () => {
    expect(amongFor(960n, '08:59:59')).toEqual(['yesterday']);
    expect(amongFor(960n, '09:00:00')).toEqual(['ten', 'seven']);
    expect(amongFor(350n, '09:00:01')).toEqual(['seven']);
    expect(amongFor(349n, '09:00:01')).toEqual(['seven', 'ten', 'hundred']);
    expect(amongFor(99n, '09:00:01')).toEqual(['seven', 'ten']);
    expect(amongFor(6n, '09:00:01')).toEqual([]);
    // A chain whose clock is behind: it came when they waited.
    expect(nearBy(wallet, { ...live('09:00:20', 48), carried: 960n }).among.map(({ id }) => id)).toEqual([
      'yesterday',
      'ten',
      'seven',
    ]);
  });

  test('may be for a paid one only when there is no unpaid one', () => {
    const alone = wallet.filter(({ id }) => id === 'paid');
    expect(nearBy(alone, { ...live('09:10:00'), carried: 800n })).toMatchObject({ reason: 'underpaid', among: alone });
  });
});

describe('accepting', () => {
  const ten = payment('ten', '09:00:00', { asked: 1000n });
  const seven = payment('seven', '09:00:00', { asked: 700n, merchant: 'two' });
  const wallet = [ten, seven];
  const refusal = (
    carried: bigint,
    among: Asking[],
    over: { pays?: string; by?: string; confirmed?: number; paid?: string } = {},
  ) =>
    acceptanceRefusal(ten, { ...live(over.paid ?? '09:10:00'), carried, pays: over.pays ?? null }, wallet, among, {
      by: over.by ?? null,
      confirmed: over.confirmed ?? null,
    });

  test('accepts no stranger’s money', () => {
    expect(refusal(990n, [ten])).toBeNull();
    expect(refusal(990n, [ten], { pays: 'seven' })).toBe('pays another payment');
    expect(refusal(700n, [])).toBe('exactly the amount of another payment');
    expect(refusal(700n, [], { paid: '08:59:59' })).toBeNull();
    expect(refusal(1000n, [seven])).toBe('another payment is the candidate');
    expect(refusal(1000n, [])).toBeNull();
  });

  test('with several candidates needs their number, and an operator when another merchant has one', () => {
    expect(refusal(800n, [ten, seven])).toBe('candidates not confirmed');
    expect(refusal(800n, [ten, seven], { confirmed: 3 })).toBe('candidates not confirmed');
    expect(refusal(800n, [ten, seven], { confirmed: 2 })).toBeNull();
    expect(refusal(800n, [ten, seven], { confirmed: 2, by: 'one' })).toBe('of another merchant');
  });
});

test('the reason why money is too late is given for each payment', () => {
  const [a, b] = [payment('A', '09:00:00'), payment('B', '09:00:00', { cancelled: '09:10:00.500' })];
  expect([lateReason(a, at('09:40:00')), lateReason(b, at('09:10:00')), lateReason(b, at('09:09:59'))]).toEqual([
    'late',
    'after_cancel',
    'late',
  ]);
});
