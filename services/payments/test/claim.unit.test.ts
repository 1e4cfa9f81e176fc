import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Claim, claimOf, type SlotPayment } from '../src/settlement/claim.ts';
import {
  intervalOf,
  meets,
  type Sighting,
  startOf,
  wasKnownBefore,
  windowOf,
} from '../src/settlement/payment-window.ts';

/** A time of day, or one of 10 o'clock: `10:00:05.4`, `:05.4`. */
const at = (time: string): Date => {
  const [hours, minutes, seconds = ''] = time.startsWith(':') ? ['10', '00', time.slice(1)] : time.split(':');
  return new Date(`2026-03-01T${hours!.padStart(2, '0')}:${minutes}:${seconds.padStart(2, '0')}Z`);
};

type Times = { created: string; expired?: string; cancelled?: string };

/** A payment of the slot with this name, which ended as given, or waits for half an hour from its creation. */
function payment(name: string, { created, expired, cancelled }: Times, more: Partial<SlotPayment> = {}): SlotPayment {
  const waitsUntil = new Date(at(created).getTime() + 30 * 60_000);
  return {
    payment_id: name,
    merchant_id: 'mer_1',
    order_id: null,
    created_at: at(created),
    expires_at: expired === undefined ? waitsUntil : at(expired),
    cancelled_at: cancelled === undefined ? null : at(cancelled),
    status: expired !== undefined ? 'EXPIRED' : cancelled !== undefined ? 'CANCELLED' : 'PENDING',
    ...more,
  };
}

/** A transfer of the exact amount that was first read at `seen` without a gap before; `asleep`: with one. */
const live = (block: string, seen: string): Sighting => ({
  ...{ block_timestamp: at(block), first_seen_at: at(seen), live: true },
});
const asleep = (block: string, seen: string): Sighting => ({ ...live(block, seen), live: false });

/** The outcome in words: who is paid, who are candidates, or none. */
function said(claim: Claim<SlotPayment>): string {
  if (claim.kind === 'none') return 'none';
  if (claim.kind === 'one') return `${claim.payment.payment_id} is paid`;
  return `ambiguous: ${claim.candidates.map(({ payment_id: id }) => id).join(', ')}`;
}
const outcome = (slot: readonly SlotPayment[], transfer: Sighting): string => said(claimOf(slot, transfer));

/** The table of histories, as far as it concerns one transfer and its slot; decision.ts decides about late money. */
describe('who gets the money, by the table of histories:', () => {
  const expired = payment('A', { created: '9:30:00', expired: '10:00:00' });

  test('A expired, T came a second later, B was created after T was seen: nobody is paid', () => {
    const later = payment('B', { created: ':09' });
    expect(outcome([expired, later], live(':01', ':03'))).toBe('none');
    // It was published late: nothing was read for minutes, and its interval still ends 15 s after its block.
    expect(outcome([expired, later], asleep(':01', ':08.9'))).toBe('none');
  });

  test('the same, and T was first read 0.3 s before B was created: nobody is paid', () => {
    expect(outcome([expired, payment('B', { created: ':09.5' })], live(':01', ':09.2'))).toBe('none');
  });

  test('a network that is looked at once a minute: T came 39 s before B was created, and nobody is paid', () => {
    const ended = payment('A', { created: '9:10:00', expired: '9:40:00' });
    expect(outcome([ended, payment('B', { created: ':40' })], asleep(':01', ':41'))).toBe('none');
  });

  test('A was cancelled, B created a second later, the chain’s clock is 48 s behind: ambiguous', () => {
    const slot = [payment('A', { created: '9:50:00', cancelled: ':25' }), payment('B', { created: ':26' })];
    expect(outcome(slot, live('9:59:52', ':40.5'))).toBe('ambiguous: A, B');
  });

  test('only B in the last hour, the chain’s clock is 48 s behind: B is paid', () => {
    expect(outcome([payment('B', { created: ':00' })], live('9:59:42', ':30.5'))).toBe('B is paid');
  });

  test.each([
    [':02', 'ambiguous: A, B'],
    [':20', 'B is paid'],
  ])('A was cancelled and B created in one second, T in block %s: %s', (block, expected) => {
    const slot = [payment('A', { created: '9:50:00', cancelled: ':00.2' }), payment('B', { created: ':00.4' })];
    expect(outcome(slot, live(block, ':21'))).toBe(expected);
  });

  test.each([':02', ':20'])('the same for one order, T in block %s: B is paid', (block) => {
    const order = { order_id: 'order 7' };
    const slot = [
      payment('A', { created: '9:50:00', cancelled: ':00.2' }, order),
      payment('B', { created: ':00.4' }, order),
    ];
    expect(outcome(slot, live(block, ':21'))).toBe('B is paid');
  });

  test('the same with one order’s name of two merchants: ambiguous', () => {
    const slot = [
      payment('A', { created: '9:50:00', cancelled: ':00.2' }, { order_id: 'order 7' }),
      payment('B', { created: ':00.4' }, { order_id: 'order 7', merchant_id: 'mer_2' }),
    ];
    expect(outcome(slot, live(':02', ':03'))).toBe('ambiguous: A, B');
  });

  test.each([
    ['10:05:02', 'ambiguous: A, B'],
    ['10:05:30', 'B is paid'],
  ])('A was cancelled five minutes before B was created, T in block %s: %s', (block, expected) => {
    const slot = [payment('A', { created: '9:50:00', cancelled: ':00' }), payment('B', { created: '10:05:00' })];
    expect(outcome(slot, live(block, '10:05:31'))).toBe(expected);
  });

  test('the watcher was down: T came while A waited, and A is paid', () => {
    const slot = [payment('A', { created: '9:10:00', cancelled: '9:40:00' }), payment('B', { created: '9:41:00' })];
    expect(outcome(slot, asleep('9:20:00', '11:00:10'))).toBe('A is paid');
  });

  test('a day’s outage, T 4 s before B was created, nothing else in the slot: B is paid', () => {
    const slot = [payment('B', { created: '10:00:04.3' })];
    expect(outcome(slot, { ...asleep('10:00:00', '10:00:00'), first_seen_at: new Date('2026-03-02T10:00:00Z') })).toBe(
      'B is paid',
    );
  });

  test('A lived for three seconds within the interval, and B began before its end: ambiguous', () => {
    const slot = [payment('A', { created: ':05', cancelled: ':08' }), payment('B', { created: ':09' })];
    expect(outcome(slot, live(':00', ':10'))).toBe('ambiguous: A, B');
  });

  test('the chain’s clock is 60 s ahead, T was paid one minute before the expiry: PAID when it is read live, else late', () => {
    const slot = [payment('A', { created: '9:31:00' })];
    expect(outcome(slot, live('10:01:00', ':00.4'))).toBe('A is paid');
    expect(outcome(slot, asleep('10:01:00', ':00.4'))).toBe('none');
  });
});

describe('rule 1, a late payer:', () => {
  const before = payment('A', { created: '9:20:00', cancelled: '9:50:00' });
  const after = payment('B', { created: '10:00:00' });
  const made = (time: string) => outcome([before, after], live(time, '10:00:20'));

  test.each([
    ['in the last second of A', '9:49:59', 'ambiguous: A, B'],
    ['in the second of A’s end', '9:50:00', 'ambiguous: A, B'],
    ['in the last second that is too soon for B', ':04', 'ambiguous: A, B'],
    ['five seconds after B', ':05', 'B is paid'],
  ])('money %s', (_, time, expected) => {
    expect(made(time)).toBe(expected);
  });

  test('money in the last second of A that is read immediately is A’s', () => {
    expect(outcome([before, after], live('9:49:59', '9:50:01'))).toBe('A is paid');
  });

  test('B’s five seconds begin with the second of its creation', () => {
    const later = payment('B', { created: ':00.900' });
    expect(outcome([before, later], live(':05', ':06'))).toBe('B is paid');
    expect(outcome([before, later], live(':04', ':06'))).toBe('ambiguous: A, B');
  });

  test('A ended an hour before B, to the millisecond', () => {
    const ended = (time: string) =>
      outcome(
        [payment('A', { created: '8:00:00', expired: time }), payment('B', { created: ':00.500' })],
        live(':02', ':03'),
      );
    expect(ended('9:00:00.499')).toBe('B is paid');
    expect(ended('9:00:00.500')).toBe('ambiguous: A, B');
  });

  test('A that is PAID has no late payer', () => {
    expect(outcome([{ ...before, status: 'PAID' }, after], live(':02', ':03'))).toBe('B is paid');
  });

  test('only the newest claimant and the payment before it count', () => {
    const middle = payment('M', { created: '9:55:00', cancelled: '9:56:00' });
    expect(outcome([before, middle, after], live(':02', ':03'))).toBe('ambiguous: M, B');
    expect(outcome([before, { ...middle, status: 'PAID' }, after], live(':02', ':03'))).toBe('B is paid');
  });
});

describe('rule 2, money in the window of the only claimant:', () => {
  test.each(['PENDING', 'CHECKING', 'PAID', 'EXPIRED', 'CANCELLED'] as const)('a %s payment claims it', (status) => {
    const slot = [payment('A', { created: '9:50:00', expired: '10:20:00' }, { status })];
    expect(claimOf(slot, live(':00', ':01'))).toEqual({ kind: 'one', payment: slot[0], isInside: true });
  });

  test('from the second of its creation up to its end, which is not in it', () => {
    const slot = [payment('A', { created: ':00.9', expired: '10:20:00.5' })];
    expect(outcome(slot, live('9:59:59', '9:59:59.9'))).toBe('none');
    expect(claimOf(slot, live(':00', ':01'))).toMatchObject({ kind: 'one', isInside: true });
    expect(outcome(slot, live('10:20:00', '10:20:01'))).toBe('A is paid');
    expect(outcome(slot, live('10:20:01', '10:20:02'))).toBe('none');
    const cancelled = [payment('A', { created: ':00.9', cancelled: ':10.9' })];
    expect(outcome(cancelled, live(':09', ':09.5'))).toBe('A is paid');
    expect(outcome(cancelled, live(':10', ':10.5'))).toBe('none');
  });
});

describe('rule 3, money that only the end of its interval lets in:', () => {
  const only = payment('B', { created: ':30' });
  const lagging = live('9:59:50', ':31');

  test('the only payment of the slot is paid, but a transfer inside a window takes precedence', () => {
    expect(claimOf([only], lagging)).toEqual({ kind: 'one', payment: only, isInside: false });
  });

  test('the interval reaches the second of the creation, or not', () => {
    expect(outcome([only], live('9:59:50', ':29.999'))).toBe('none');
    expect(outcome([payment('B', { created: ':30.000' })], live('9:59:50', ':30'))).toBe('B is paid');
    // Not live, the interval ends 15 s after the block.
    expect(outcome([only], asleep(':14', ':40'))).toBe('none');
    expect(outcome([only], asleep(':15', ':40'))).toBe('B is paid');
  });

  test('a payment that ended in the hour before, paid or not, makes it ambiguous; an earlier one does not', () => {
    const ended = (time: string, more: Partial<SlotPayment> = {}) =>
      outcome([payment('A', { created: '8:00:00', expired: time }, more), only], lagging);
    expect(ended('9:00:30')).toBe('ambiguous: A, B');
    expect(ended('9:00:29.999')).toBe('B is paid');
    // A needs no more money, so it is no candidate. It is still not certain that the money is B's.
    expect(ended('9:30:00', { status: 'PAID' })).toBe('ambiguous: B');
  });

  test('payments that ended unpaid in the hour before are candidates, even if another was paid in between', () => {
    const slot = [
      payment('A', { created: '9:30:00', cancelled: '9:40:00' }),
      payment('M', { created: '9:45:00', cancelled: '9:46:00' }, { status: 'PAID' }),
      only,
    ];
    expect(outcome(slot, lagging)).toBe('ambiguous: A, B');
    // One that was cancelled in the second of its creation claims nothing itself.
    const brief = payment('A', { created: ':20.1', cancelled: ':20.8' });
    expect(outcome([brief, only], lagging)).toBe('ambiguous: A, B');
  });
});

describe('rules 4 and 5, several claimants:', () => {
  const slot = [payment('A', { created: '9:50:00', cancelled: ':10' }), payment('B', { created: ':12' })];

  test('up to 15 s of interval the one that holds its start is paid, a millisecond more is ambiguous', () => {
    expect(outcome(slot, live(':05', ':20'))).toBe('A is paid');
    expect(outcome(slot, live(':05', ':20.001'))).toBe('ambiguous: A, B');
    expect(outcome(slot, asleep(':05', ':50'))).toBe('A is paid');
  });

  test('where none holds the start it is ambiguous, however short the interval', () => {
    const both = [payment('A', { created: ':05', cancelled: ':08' }), payment('B', { created: ':09' })];
    expect(outcome(both, live(':04', ':09'))).toBe('ambiguous: A, B');
  });

  test('one that is PAID is no candidate while another is not', () => {
    expect(outcome([{ ...slot[0]!, status: 'PAID' }, slot[1]!], live(':05', ':30'))).toBe('ambiguous: B');
    const paid = slot.map((one) => ({ ...one, status: 'PAID' as const }));
    expect(outcome(paid, live(':05', ':30'))).toBe('ambiguous: A, B');
  });

  test('a window ends where the next payment of the slot begins, for one that was paid before its expiry', () => {
    const paid = payment('A', { created: '9:50:00' }, { status: 'PAID' });
    const next = payment('B', { created: ':12.500' });
    expect(outcome([paid, next], live(':12', ':12.800'))).toBe('B is paid');
    expect(outcome([paid, next], live(':11', ':11.900'))).toBe('A is paid');
  });
});

describe('rule 7, payments of one order:', () => {
  const order = { order_id: 'order 7' };
  const lagging = live('9:59:55', ':40');
  const three = (statuses: SlotPayment['status'][]) =>
    [
      payment('A', { created: '9:50:00', cancelled: ':10' }, order),
      payment('B', { created: ':12', cancelled: ':20' }, order),
      payment('C', { created: ':22' }, order),
    ].map((one, position) => ({ ...one, status: statuses[position]! }));

  test('the newest that is unfinished is paid, else the newest', () => {
    expect(outcome(three(['CANCELLED', 'CANCELLED', 'PENDING']), lagging)).toBe('C is paid');
    expect(outcome(three(['CANCELLED', 'PENDING', 'EXPIRED']), lagging)).toBe('B is paid');
    expect(outcome(three(['CANCELLED', 'CANCELLED', 'EXPIRED']), lagging)).toBe('C is paid');
  });

  test('one payment without the order, or with another one, makes it ambiguous', () => {
    for (const order_id of [null, 'order 8']) {
      const slot = three(['CANCELLED', 'CANCELLED', 'PENDING']).map((one, position) =>
        position === 1 ? { ...one, order_id } : one,
      );
      expect(outcome(slot, lagging)).toBe('ambiguous: A, B, C');
    }
  });

  test('no order is not one order', () => {
    const slot = three(['CANCELLED', 'CANCELLED', 'PENDING']).map((one) => ({ ...one, order_id: null }));
    expect(outcome(slot, lagging)).toBe('ambiguous: A, B, C');
  });
});

/** Payments one after the other, as the slot's uniqueness requires: each starts after the previous one was closed. */
const anySlot = fc
  .array(
    fc.record({
      pauseMs: fc.oneof(fc.integer({ min: 0, max: 30_000 }), fc.integer({ min: 3_590_000, max: 3_610_000 })),
      lifeMs: fc.integer({ min: 1, max: 60_000 }),
      end: fc.constantFrom('EXPIRED', 'CANCELLED', 'PAID'),
    }),
    { minLength: 1, maxLength: 5 },
  )
  .map((steps) => {
    let clock = 0;
    return steps.map(({ pauseMs, lifeMs, end }, position): SlotPayment => {
      const start = clock + pauseMs;
      clock = start + lifeMs;
      return {
        payment_id: `pay_${position}`,
        merchant_id: 'mer_1',
        order_id: null,
        status: end,
        created_at: new Date(start),
        // A payment that was paid leaves its slot before its expiry.
        expires_at: new Date(end === 'EXPIRED' ? clock : clock + 60_000),
        cancelled_at: end === 'CANCELLED' ? new Date(clock) : null,
      };
    });
  });

/** Near some payment of the slot, with a chain's clock up to two minutes off. */
const anyHistory = anySlot.chain((slot) =>
  fc
    .record({
      near: fc.constantFrom(...slot),
      second: fc.integer({ min: -90, max: 90 }),
      lagMs: fc.integer({ min: -120_000, max: 120_000 }),
      live: fc.boolean(),
    })
    .map(({ near, second, lagMs, live: isLive }) => {
      const block = startOf(near) + second * 1000;
      const transfer: Sighting = {
        ...{ block_timestamp: new Date(block), first_seen_at: new Date(block + lagMs), live: isLive },
      };
      return { slot, transfer };
    }),
);

describe('whatever the history,', () => {
  const forAll = (holds: (slot: readonly SlotPayment[], transfer: Sighting) => void) =>
    fc.assert(
      fc.property(anyHistory, ({ slot, transfer }) => holds(slot, transfer)),
      { numRuns: 2_000 },
    );

  test('money pays only a payment whose window its interval meets, and that existed when it was first seen', () => {
    forAll((slot, transfer) => {
      const claim = claimOf(slot, transfer);
      if (claim.kind !== 'one') return;
      expect(meets(intervalOf(transfer), windowOf(claim.payment))).toBe(true);
      expect(wasKnownBefore(claim.payment, transfer)).toBe(false);
    });
  });

  test('the newest of several candidates existed when the money was first seen, and all began before its interval ended', () => {
    forAll((slot, transfer) => {
      const claim = claimOf(slot, transfer);
      if (claim.kind !== 'ambiguous') return;
      expect(wasKnownBefore(claim.candidates.at(-1)!, transfer)).toBe(false);
      for (const candidate of claim.candidates) expect(startOf(candidate)).toBeLessThanOrEqual(intervalOf(transfer).to);
    });
  });

  test('the two payments before the interval and those begun within it decide as all of the slot do', () => {
    forAll((slot, transfer) => {
      const { from, to } = intervalOf(transfer);
      const begun = slot.filter((one) => startOf(one) <= to);
      const meanwhile = begun.filter((one) => startOf(one) > from);
      const found = [...begun.filter((one) => startOf(one) <= from).slice(-2), ...meanwhile];
      const [all, some] = [claimOf(slot, transfer), claimOf(found, transfer)];
      expect(some.kind).toBe(all.kind);
      if (all.kind === 'one' && some.kind === 'one') expect(some).toEqual(all);
    });
  });
});
