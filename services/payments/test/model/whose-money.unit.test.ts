import { describe, expect, test } from '@jest/globals';
import { type Asking, stillPossible, waitedOrRested } from './candidates.ts';
import { at, expired, found, live, payment, verdict } from './histories.ts';
import { intervalOf } from './whose-money.ts';

describe('the rules at their edges', () => {
  test('an interval is reversed when the block is in the future', () => {
    expect(intervalOf(live('10:00:00.500', -60))).toEqual({ from: at('10:00:00.500'), to: at('10:01:00') });
    expect(intervalOf(found('10:00:00', '12:00:00'))).toEqual({ from: at('10:00:00'), to: at('10:00:15') });
    expect(intervalOf({ ...live('10:00:10'), firstSeen: null })).toEqual({ from: at('10:00:10'), to: at('10:00:25') });
  });

  test.each<[string, Partial<Asking> & { cancelled?: string }, string, string]>([
    ['ended an hour before', { cancelled: '09:00:00.500' }, '10:00:04.499', 'A and B, rule 1, ambiguous'],
    ['ended longer before', { cancelled: '09:00:00.499' }, '10:00:04', 'pays B, rule 2'],
    ['five seconds after B', { cancelled: '09:59:00' }, '10:00:05', 'pays B, rule 2'],
    ['just before that', { cancelled: '09:59:00' }, '10:00:04.999', 'A and B, rule 1, ambiguous'],
    ['after A was paid', { status: 'PAID' }, '10:00:02', 'pays B, rule 2'],
  ])('rule 1: A %s', (_when, change, paid, right) => {
    const a = payment('A', '08:50:00', { expiresAt: at('09:59:30'), ...change });
    const slot = [a, payment('B', '10:00:00.500')];
    expect(verdict(slot, live(paid))).toBe(right);
  });

  test('rule 3: another payment in the hour before makes the end of an interval ambiguous, a paid one as well', () => {
    const b = payment('B', '10:00:00');
    const arrival = live('10:00:30', 48);
    const a = (end: string) => payment('A', '08:00:00', { expiresAt: at(end), status: 'PAID' });
    expect(verdict([a('09:00:00'), b], arrival)).toBe('A and B, rule 3, ambiguous');
    expect(verdict([a('08:59:59.999'), b], arrival)).toBe('pays B, rule 3');
    expect(stillPossible([a('09:00:00'), b])).toEqual([b]);
    expect(stillPossible([a('09:00:00')])).toEqual([a('09:00:00')]);
  });

  test('rule 4: in an interval of at most 15 s the beginning decides', () => {
    const slot = [payment('A', '09:50:00', { cancelled: '10:00:00' }), payment('B', '10:00:01')];
    expect(verdict(slot, found('09:59:59', '12:00:00'))).toBe('pays A, rule 4');
    expect(verdict(slot, { blockTime: at('09:59:45'), firstSeen: at('10:00:01'), live: true })).toBe(
      'A and B, rule 5, ambiguous',
    );
  });

  test('rule 7: the newest unfinished order is paid, else the newest', () => {
    const one = (id: string, created: string, change: object) => payment(id, created, { orderId: 'X', ...change });
    const arrival = { blockTime: at('10:00:00'), firstSeen: at('10:00:40'), live: true };
    const a = one('A', '09:50:00', { cancelled: '10:00:10' });
    const b = one('B', '10:00:11', { cancelled: '10:00:20' });
    const c = one('C', '10:00:30', {});
    expect(verdict([a, b, c], arrival)).toBe('pays C, rule 5, rule 7');
    expect(verdict([a, b, { ...c, status: 'EXPIRED' }], arrival)).toBe('pays C, rule 5, rule 7');
    expect(verdict([a, { ...b, orderId: 'Y' }, c], arrival)).toBe('A and B and C, rule 5, ambiguous');
    const nameless = [a, b, c].map((payment) => ({ ...payment, orderId: null }));
    expect(verdict(nameless, arrival)).toBe('A and B and C, rule 5, ambiguous');
  });

  test('an unfinished payment never has late money', () => {
    expect(verdict([payment('A', '10:00:00')], live('10:30:00'))).toBe('null for A');
    expect(verdict([payment('A', '10:00:00', { status: 'EXPIRED' })], live('10:30:00'))).toBe('late for A');
    expect(verdict([payment('A', '10:00:00', { status: 'PAID' })], live('10:30:00'))).toBe('duplicate for A');
    expect(verdict([payment('A', '10:00:00', { cancelled: '10:01:00' })], live('10:30:00'))).toBe('after_cancel for A');
    expect(verdict([payment('A', '10:00:00')], found('09:59:44', '12:00:00'))).toBe('nobody');
  });

  test('late money names the payment that waited or rested, and the one before while its customer may be late, too', () => {
    const a = (end: string, orderId = 'A') => payment('A', '09:00:00', { cancelled: end, orderId });
    const b = payment('B', '10:00:00', { cancelled: '10:10:00' });
    expect(verdict([a('09:50:00'), b], live('10:20:00'))).toBe('after_cancel for B,A');
    expect(verdict([a('09:10:00'), b], live('10:10:00'))).toBe('after_cancel for B,A');
    expect(verdict([a('09:09:59'), b], live('10:10:00'))).toBe('after_cancel for B');
    expect(verdict([a('09:50:00', 'B'), b], live('10:20:00'))).toBe('after_cancel for B');
    expect(verdict([a('09:50:00'), { ...b, status: 'PAID' }], live('10:20:00'))).toBe('duplicate for B');
    expect(verdict([a('09:50:00'), payment('B', '10:00:00', { status: 'CHECKING' })], live('10:31:00'))).toBe(
      'duplicate for B',
    );
  });

  test('money that was known before an order does not name it, even in the block’s second', () => {
    const slot = [expired('A', '09:50:00'), payment('B', '10:00:01.620')];
    expect(verdict(slot, live('10:00:01.031'))).toBe('late for A');
    expect(verdict(slot.slice(1), live('10:00:01.031'))).toBe('nobody');
  });

  test('long after, it still belongs to the last payment that had begun', () => {
    const day = 24 * 60 * 60_000;
    const old = expired('A', '09:50:00');
    const earlier = (payment: Asking): Asking => ({
      ...payment,
      createdAt: payment.createdAt - 3 * day,
      expiresAt: payment.expiresAt - 3 * day,
    });
    expect(verdict([earlier(old)], live('10:00:00'))).toBe('late for A');
    expect(waitedOrRested(earlier(old), live('10:00:00'))).toBe(false);
  });

  test('a payment that ended in the second of its beginning claims nothing, and is named', () => {
    const slot = [payment('A', '10:00:00.251', { cancelled: '10:00:00.252' })];
    expect(verdict(slot, { ...live('10:00:00.252', 16), live: true })).toBe('late for A');
  });
});
