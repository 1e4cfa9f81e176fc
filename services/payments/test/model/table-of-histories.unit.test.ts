import { describe, expect, test } from '@jest/globals';
import { acceptanceRefusal, type Asking } from './candidates.ts';
import { at, expired, found, live, payment, verdict } from './histories.ts';
import { type Arrival, paidAnother } from './whose-money.ts';

/* The contract's table of histories, row by row, against the model's rules: the model that judges the service is tested first. */

const cancelled = (change: Partial<Asking> = {}) => payment('A', '09:50:00', { cancelled: '10:00:00.200', ...change });

describe('the table of histories', () => {
  test.each<[string, Asking[], Arrival, string]>([
    [
      'A expires, is paid a second later, and B is created',
      [expired('A', '10:00:00'), payment('B', '10:00:09')],
      live('10:00:01.400'),
      'late for A',
    ],
    [
      'the same, first read 0.3 s before B is created',
      [expired('A', '10:00:00'), payment('B', '10:00:09')],
      { blockTime: at('10:00:01'), firstSeen: at('10:00:08.700'), live: true },
      'late for A',
    ],
    [
      'the network is read once a minute',
      [expired('A', '09:40:00'), payment('B', '10:00:40')],
      found('10:00:01', '10:00:41'),
      'late for A',
    ],
    [
      'A is cancelled, B created, and the chain is 48 s behind',
      [payment('A', '09:50:00', { cancelled: '10:00:25' }), payment('B', '10:00:26')],
      live('10:00:40', 48),
      'A and B, rule 5, ambiguous',
    ],
    ['only B, and the chain is 48 s behind', [payment('B', '10:00:00')], live('10:00:30', 48), 'pays B, rule 3'],
    [
      'customer-2 pays exactly his amount, the chain 48 s behind',
      [payment('customer-2', '10:00:00', { asked: 21n })],
      live('10:00:30', 48),
      'pays customer-2, rule 3',
    ],
    [
      'two seconds after A was cancelled and B created',
      [cancelled(), payment('B', '10:00:00.400')],
      live('10:00:02.100'),
      'A and B, rule 1, ambiguous',
    ],
    ['the same, 20 s after', [cancelled(), payment('B', '10:00:00.400')], live('10:00:20.100'), 'pays B, rule 2'],
    [
      'two seconds after, with one order id',
      [cancelled({ orderId: 'X' }), payment('B', '10:00:00.400', { orderId: 'X' })],
      live('10:00:02.100'),
      'pays B, rule 1, rule 7',
    ],
    [
      '20 s after, with one order id',
      [cancelled({ orderId: 'X' }), payment('B', '10:00:00.400', { orderId: 'X' })],
      live('10:00:20.100'),
      'pays B, rule 2',
    ],
    [
      'with one order id, of two merchants',
      [cancelled({ orderId: 'X' }), payment('B', '10:00:00.400', { orderId: 'X', merchant: 'two' })],
      live('10:00:02.100'),
      'A and B, rule 1, ambiguous',
    ],
    [
      'B five minutes after A, paid in two seconds',
      [cancelled({ cancelledAt: at('10:00:00') }), payment('B', '10:05:00')],
      live('10:05:02.300'),
      'A and B, rule 1, ambiguous',
    ],
    [
      'B five minutes after A, paid in half a minute',
      [cancelled({ cancelledAt: at('10:00:00') }), payment('B', '10:05:00')],
      live('10:05:30.300'),
      'pays B, rule 2',
    ],
    [
      'the watcher is down, A is paid and cancelled, B created',
      [payment('A', '09:10:00', { cancelled: '09:40:00' }), payment('B', '09:41:00')],
      found('09:20:00', '11:00:01'),
      'pays A, rule 2',
    ],
    [
      'a day’s outage, paid four seconds before B is created',
      [payment('B', '10:00:04.500')],
      found('10:00:00', '23:00:01'),
      'pays B, rule 3',
    ],
    [
      'three seconds of A, a second of nobody, B',
      [payment('A', '10:00:05', { cancelled: '10:00:08' }), payment('B', '10:00:09')],
      { blockTime: at('10:00:00'), firstSeen: at('10:00:10'), live: true },
      'A and B, rule 5, ambiguous',
    ],
    ['T2 of a batch in which T1 was retracted', [payment('A', '10:00:00')], live('10:10:00'), 'pays A, rule 2'],
    [
      'T in CHECKING for A moves to where the clock lags',
      [payment('A', '09:50:00', { cancelled: '10:00:25' }), payment('B', '10:00:26')],
      { blockTime: at('10:00:00'), firstSeen: at('10:00:40'), live: true },
      'A and B, rule 5, ambiguous',
    ],
    [
      'a chain a minute ahead, paid a minute before the end by the wall',
      [payment('A', '10:00:00')],
      live('10:29:00', -60),
      'pays A, rule 2',
    ],
    ['the same without live reading', [expired('A', '10:30:00')], found('10:30:00', '10:29:00'), 'late for A'],
  ])('%s', (_history, slot, arrival, right) => {
    expect(verdict(slot, arrival)).toBe(right);
  });

  test('A lists paid_another when B is paid 20 s after', () => {
    const [a, b] = [cancelled(), payment('B', '10:00:00.400')];
    expect(paidAnother([a, b], b, live('10:00:20.100'))).toEqual([a]);
    expect(paidAnother([a, b], b, live('11:00:01.100'))).toEqual([]);
  });

  test('customer-2’s money is never customer-1’s candidate', () => {
    const wallet = [
      payment('customer-1', '09:58:00', { asked: 2150n }),
      payment('customer-2', '10:00:00', { asked: 2101n }),
    ];
    const money = { ...live('10:00:30', 48), carried: 2101n, pays: 'customer-2' };
    expect(acceptanceRefusal(wallet[0]!, money, wallet, [], { by: 'one', confirmed: null })).toBe(
      'pays another payment',
    );
  });
});
