import { describe, expect, test } from '@jest/globals';
import { acceptanceRefusal, type Asking, nearBy, stillPossible, unclaimed } from './candidates.ts';
import { type Arrival, intervalOf, paidAnother, whoseMoney } from './whose-money.ts';

/* The table of histories in the contract, row by row, against the model's wording: who judges others is judged first. */

const at = (time: string): number => Date.parse(`2031-03-11T${time}Z`);
const MINUTE = 60_000;

/** Waits half an hour unless it is cancelled. What is over by the clock is EXPIRED unless the test says otherwise. */
function payment(id: string, created: string, change: Partial<Asking> & { cancelled?: string } = {}): Asking {
  const { cancelled, ...rest } = change;
  const createdAt = at(created);
  return {
    ...{ id, merchant: 'one', orderId: id, createdAt, expiresAt: createdAt + 30 * MINUTE, asked: 10n },
    cancelledAt: cancelled === undefined ? null : at(cancelled),
    status: cancelled === undefined ? 'PENDING' : 'CANCELLED',
    ...rest,
  };
}

const expired = (id: string, ended: string): Asking =>
  payment(id, '00:00:00', { createdAt: at(ended) - 30 * MINUTE, expiresAt: at(ended), status: 'EXPIRED' });

/** Read as soon as it came, on a chain whose clock is right unless it is said to be behind (or ahead: negative). */
const live = (wall: string, secondsBehind = 0): Arrival => ({
  blockTime: Math.floor(at(wall) / 1000) * 1000 - secondsBehind * 1000,
  firstSeen: at(wall),
  live: true,
});
const found = (block: string, read: string): Arrival => ({ blockTime: at(block), firstSeen: at(read), live: false });

function verdict(slot: readonly Asking[], arrival: Arrival): string {
  const whose = whoseMoney(slot, arrival);
  if ('pays' in whose) return `pays ${whose.pays.id}, ${whose.by}`;
  if ('among' in whose)
    return `${whose.among
      .map(({ id }) => id)
      .toReversed()
      .join(' and ')}, ${whose.by}`;
  const left = unclaimed(slot, arrival);
  return left === null ? 'nobody' : `${left.reason} for ${left.among.map(({ id }) => id).join()}`;
}

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
      'the network sleeps',
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
    ['the same when nobody watched', [expired('A', '10:30:00')], found('10:30:00', '10:29:00'), 'late for A'],
  ])('%s', (_history, slot, arrival, right) => {
    expect(verdict(slot, arrival)).toBe(right);
  });

  test('A lists paid_another when B is paid 20 s after', () => {
    const [a, b] = [cancelled(), payment('B', '10:00:00.400')];
    expect(paidAnother([a, b], b, live('10:00:20.100'))).toEqual([a]);
    expect(paidAnother([a, b], b, live('11:00:01.100'))).toEqual([]);
  });

  test('customer-2’s money is nothing that may be customer-1’s', () => {
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

describe('the rules at their edges', () => {
  test('an interval is turned round where the block is of the future', () => {
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

  test('late is never said of an unfinished payment', () => {
    expect(verdict([payment('A', '10:00:00')], live('10:30:00'))).toBe('null for A');
    expect(verdict([payment('A', '10:00:00', { status: 'EXPIRED' })], live('10:30:00'))).toBe('late for A');
    expect(verdict([payment('A', '10:00:00', { status: 'PAID' })], live('10:30:00'))).toBe('duplicate for A');
    expect(verdict([payment('A', '10:00:00', { cancelled: '10:01:00' })], live('10:30:00'))).toBe('after_cancel for A');
    expect(verdict([payment('A', '10:00:00')], found('09:59:44', '12:00:00'))).toBe('nobody');
  });
});

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

  test('may be for what waited or rested then, the nearest first; others only where none is near', () => {
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

  test('may be for a paid one only where no unpaid one is there', () => {
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

  test('takes no stranger’s money', () => {
    expect(refusal(990n, [ten])).toBeNull();
    expect(refusal(990n, [ten], { pays: 'seven' })).toBe('pays another payment');
    expect(refusal(700n, [])).toBe('exactly the amount of another payment');
    expect(refusal(700n, [], { paid: '08:59:59' })).toBeNull();
    expect(refusal(1000n, [seven])).toBe('another payment is the candidate');
    expect(refusal(1000n, [])).toBeNull();
  });

  test('of several candidates needs their number, and an operator where another merchant has one', () => {
    expect(refusal(800n, [ten, seven])).toBe('candidates not confirmed');
    expect(refusal(800n, [ten, seven], { confirmed: 3 })).toBe('candidates not confirmed');
    expect(refusal(800n, [ten, seven], { confirmed: 2 })).toBeNull();
    expect(refusal(800n, [ten, seven], { confirmed: 2, by: 'one' })).toBe('of another merchant');
  });
});
