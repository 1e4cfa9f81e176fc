import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  intervalOf,
  isCloseAmount,
  isDust,
  isInsideWindow,
  meets,
  type PaymentTimes,
  reasonShown,
  REST_MS,
  type Sighting,
  startOfNextSecond,
  unmatchedReason,
  waitedOrRested,
  wasKnownBefore,
  windowOf,
} from '../src/settlement/payment-window.ts';

const at = (time: string): Date => new Date(`2026-03-01T${time}Z`);
const ms = (time: string): number => at(time).getTime();

/** Waits from 12:00:00.200 to 12:30:00.200 by default. */
const payment = (change: Partial<PaymentTimes> = {}): PaymentTimes => ({
  created_at: at('12:00:00.200'),
  expires_at: at('12:30:00.200'),
  cancelled_at: null,
  ...change,
});

/** @param seen when it was first read, without a gap before it; absent when only its block is known. */
const sighting = (block: string, seen?: string): Sighting => ({
  block_timestamp: at(block),
  first_seen_at: seen === undefined ? null : at(seen),
  live: seen !== undefined,
});

describe('the interval of a transfer', () => {
  test('ends with its first reading on a network that is read without a gap', () => {
    expect(intervalOf(sighting('12:10:00.000', '12:10:00.001'))).toEqual({
      from: ms('12:10:00.000'),
      to: ms('12:10:00.001'),
    });
    expect(intervalOf(sighting('12:10:00.000', '12:12:00.000'))).toMatchObject({ to: ms('12:12:00.000') });
  });

  test('ends 15 s after the time of its block in every other case', () => {
    const unread = { from: ms('12:10:00.000'), to: ms('12:10:15.000') };
    expect(intervalOf(sighting('12:10:00.000'))).toEqual(unread);
    expect(intervalOf({ ...sighting('12:10:00.000', '12:10:02.000'), live: false })).toEqual(unread);
    expect(intervalOf({ ...sighting('12:10:00.000'), live: true })).toEqual(unread);
  });

  test('begins with the first reading when the chain’s clock is ahead', () => {
    expect(intervalOf(sighting('12:11:00.000', '12:10:00.500'))).toEqual({
      from: ms('12:10:00.500'),
      to: ms('12:11:00.000'),
    });
  });
});

describe('a payment window', () => {
  test('begins with the second of the creation, and ends at the expiry to the millisecond', () => {
    expect(windowOf(payment())).toEqual({ start: ms('12:00:00.000'), end: ms('12:30:00.200') });
  });

  test('ends with the second of the cancellation, and a cancellation after the expiry does not extend it', () => {
    expect(windowOf(payment({ cancelled_at: at('12:10:05.900') })).end).toBe(ms('12:10:05.000'));
    expect(windowOf(payment({ cancelled_at: at('12:40:00.000') })).end).toBe(ms('12:30:00.200'));
  });

  test.each([
    ['ends before it begins', '11:59:58.000', '11:59:59.999', false],
    ['ends as it begins', '11:59:58.000', '12:00:00.000', true],
    ['begins with the last millisecond of it', '12:30:00.199', '12:31:00.000', true],
    ['begins at its end', '12:30:00.200', '12:31:00.000', false],
  ])('meets an interval that %s: %s to %s, %s', (_, from, to, isMet) => {
    expect(meets({ from: ms(from), to: ms(to) }, windowOf(payment()))).toBe(isMet);
  });

  test('without any moment, of a payment cancelled in the second of its creation, meets nothing', () => {
    const cancelled = windowOf(payment({ cancelled_at: at('12:00:00.900') }));
    expect(meets({ from: ms('11:00:00.000'), to: ms('13:00:00.000') }, cancelled)).toBe(false);
  });

  test('holds a transfer when the start of its interval is in it', () => {
    expect(isInsideWindow(payment(), sighting('12:00:00.000'))).toBe(true);
    expect(isInsideWindow(payment(), sighting('11:59:59.000', '12:00:05.000'))).toBe(false);
    // The chain's clock is ahead: the transfer was made when it was first seen.
    expect(isInsideWindow(payment(), sighting('12:30:50.000', '12:29:50.000'))).toBe(true);
    expect(isInsideWindow(payment(), sighting('12:30:01.000'))).toBe(false);
  });
});

test('a transfer is known before a payment by the millisecond of its first reading', () => {
  const known = (seen: string) => wasKnownBefore(payment(), sighting('12:00:00.000', seen));
  expect([known('12:00:00.199'), known('12:00:00.200'), known('12:00:00.201')]).toEqual([true, false, false]);
  expect(wasKnownBefore(payment(), { ...sighting('12:00:00.000', '12:00:00.199'), live: false })).toBe(true);
  expect(wasKnownBefore(payment(), sighting('11:00:00.000'))).toBe(false);
});

describe('a payment waits or rests', () => {
  const waits = (block: string, seen?: string) => waitedOrRested(payment(), sighting(block, seen));

  test('from its creation on, also for a transfer that only the end of its interval lets in', () => {
    expect(waits('11:59:59.000', '12:00:00.200')).toBe(true);
    expect(waits('11:59:44.000')).toBe(false);
    expect(waits('11:59:45.000')).toBe(true);
  });

  test('but not for money known before it', () => {
    expect(waits('11:59:59.000', '12:00:00.199')).toBe(false);
  });

  test('until 24 hours after its end', () => {
    const end = windowOf(payment()).end + REST_MS;
    const rests = (time: number) =>
      waitedOrRested(payment(), { ...sighting('12:00:00.000'), block_timestamp: new Date(time) });
    expect([rests(end - 1), rests(end)]).toEqual([true, false]);
  });
});

test('every block of a second is before the start of the next one, and none of the next is', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10_000_000 }), (time) => {
      const next = startOfNextSecond(time).getTime();
      expect(next % 1000).toBe(0);
      expect(next - time).toBeGreaterThan(0);
      expect(next - time).toBeLessThanOrEqual(1000);
    }),
  );
});

describe('why a transfer does not pay', () => {
  const reason = (change: Partial<PaymentTimes> & { status?: string }, units: bigint, block: string, seen?: string) =>
    unmatchedReason(
      { status: 'EXPIRED', tokenUnits: 10n, ...payment(), ...change },
      { ...sighting(block, seen), tokenUnits: units },
    );

  test('another amount is underpaid or overpaid, whatever the time', () => {
    expect(reason({}, 9n, '12:10:00.000')).toBe('underpaid');
    expect(reason({}, 11n, '13:00:00.000')).toBe('overpaid');
  });

  test('the exact amount is late after the expiry, and after_cancel from the second of the cancellation on', () => {
    expect(reason({}, 10n, '13:00:00.000')).toBe('late');
    const cancelled = { status: 'CANCELLED', cancelled_at: at('12:10:05.900') };
    expect(reason(cancelled, 10n, '12:10:05.000')).toBe('after_cancel');
    expect(reason(cancelled, 10n, '12:10:04.000')).toBe('late');
    // Long before the payment: it did not come after the cancellation either.
    expect(reason(cancelled, 10n, '11:00:00.000')).toBe('late');
  });

  test('the exact amount is a duplicate when another transfer pays or is about to', () => {
    expect(reason({ status: 'PAID' }, 10n, '12:10:00.000')).toBe('duplicate');
    expect(reason({ status: 'CHECKING' }, 10n, '12:10:00.000')).toBe('duplicate');
  });
});

describe('an amount', () => {
  test.each([
    [5n, true],
    [4n, false],
    [10n, true],
    [20n, true],
    [21n, false],
  ])('is near enough to be meant from half of the requested amount to twice as much: %s of 10', (units, isClose) => {
    expect(isCloseAmount(units, 10n)).toBe(isClose);
  });

  test('is dust below a hundredth of the requested amount', () => {
    expect([isDust(99n, 10_000n), isDust(100n, 10_000n)]).toEqual([true, false]);
  });
});

describe('the reason shown for an unmatched transfer with one of the payments it may be for', () => {
  type Shown = Parameters<typeof reasonShown>;
  const reason = (ofTransfer: Partial<Shown[1]>, ofPayment: Partial<Shown[0]> = {}) =>
    reasonShown(
      { amount_units: 10_000_000n, cancelled_at: null, rest_seconds: null, ...ofPayment },
      {
        ...{ ...sighting('13:00:00.000'), amount_units: '10000000', decimals: 6, reason: null },
        ...ofTransfer,
      },
    );

  test.each(['duplicate', 'ambiguous', null])('is the ledger’s reason for the exact amount: %s', (known) => {
    expect(reason({ reason: known })).toBe(known);
  });

  test('is its amount, for any other one, in the units of the token', () => {
    expect(reason({ amount_units: '9999999', reason: 'overpaid' })).toBe('underpaid');
    expect(reason({ amount_units: '10000001', reason: 'underpaid' })).toBe('overpaid');
    expect(reason({ amount_units: '9999999' })).toBe('underpaid');
    expect(reason({ amount_units: '10000000000000000001', decimals: 18, reason: 'late' })).toBe('overpaid');
    expect(reason({ amount_units: '10000000000000000000', decimals: 18, reason: 'late' })).toBe('late');
  });

  test('is late for the one that expired and after_cancel for the one that was cancelled before it came', () => {
    expect(reason({ reason: 'after_cancel' })).toBe('late');
    expect(reason({ reason: 'late' }, { cancelled_at: at('13:00:00.900') })).toBe('after_cancel');
    expect(reason({ reason: 'late' }, { cancelled_at: at('13:00:01.000') })).toBe('late');
    // The chain's clock is ahead: it came when it was first seen.
    const ahead = { ...sighting('13:00:30.000', '13:00:00.900'), reason: 'late' };
    expect(reason(ahead, { cancelled_at: at('13:00:01.000') })).toBe('late');
  });
});
