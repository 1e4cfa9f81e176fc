import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  isCloseAmount,
  matchPayment,
  startOfNextSecond,
  unmatchedReason,
  unmatchedReasonFor,
  type PaymentTimes,
  paymentWindow,
} from '../src/settlement/payment-window.ts';

const at = (time: string): Date => new Date(`2026-03-01T${time}Z`);

/** Waits from 12:00:00.200 to 12:30:00.200 unless said otherwise. */
const payment = (change: Partial<PaymentTimes> = {}): PaymentTimes => ({
  created_at: at('12:00:00.200'),
  expires_at: at('12:30:00.200'),
  cancelled_at: null,
  ...change,
});

describe('which payment a transfer belongs to', () => {
  test('a block inside the payment window belongs to the payment, whenever it is noticed', () => {
    const waiting = payment();
    expect(matchPayment([waiting], at('12:00:01.000'))).toBe(waiting);
    expect(matchPayment([waiting], at('12:30:00.000'))).toBe(waiting);
  });

  test('a block at the time of expiry is late', () => {
    expect(matchPayment([payment({ expires_at: at('12:30:00.000') })], at('12:30:00.000'))).toBeNull();
  });

  test('a block of the second in which the payment was created belongs to it', () => {
    const waiting = payment();
    expect(matchPayment([waiting], at('12:00:00.000'))).toBe(waiting);
  });

  test('a block less than 15 s before the creation belongs to the payment, one 15 s before does not', () => {
    const waiting = payment();
    expect(matchPayment([waiting], at('11:59:46.000'))).toBe(waiting);
    expect(matchPayment([waiting], at('11:59:45.200'))).toBeNull();
    expect(matchPayment([waiting], at('11:59:45.000'))).toBeNull();
  });

  test('a block of the second of the cancellation comes too late, one of the second before in time', () => {
    const cancelled = payment({ cancelled_at: at('12:10:05.900') });
    expect(matchPayment([cancelled], at('12:10:05.000'))).toBeNull();
    expect(matchPayment([cancelled], at('12:10:04.000'))).toBe(cancelled);
  });

  test('a payment cancelled in the second of its creation matches no block, not even through the allowance', () => {
    const cancelled = payment({ cancelled_at: at('12:00:00.900') });
    expect(matchPayment([cancelled], at('12:00:00.000'))).toBeNull();
    expect(matchPayment([cancelled], at('11:59:59.000'))).toBe(cancelled);
  });

  test('a cancellation after the expiry does not extend the payment window', () => {
    expect(matchPayment([payment({ cancelled_at: at('12:40:00.000') })], at('12:35:00.000'))).toBeNull();
  });

  test('a payment window ends where the next payment of the slot starts', () => {
    const first = payment();
    const second = payment({ created_at: at('12:05:00.700'), expires_at: at('12:35:00.700') });
    expect(matchPayment([first, second], at('12:04:59.000'))).toBe(first);
    expect(matchPayment([first, second], at('12:05:00.000'))).toBe(second);
    expect(matchPayment([first, second], at('12:20:00.000'))).toBe(second);
  });

  test('the payment window that holds the block comes before the allowance of the next payment', () => {
    const first = payment();
    const second = payment({ created_at: at('12:05:00.700'), expires_at: at('12:35:00.700') });
    expect(matchPayment([first, second], at('12:04:50.000'))).toBe(first);
  });

  test('the last payment started and the first one after it decide the match as all of them do', () => {
    fc.assert(
      fc.property(anySlot, fc.integer({ min: -60, max: 400 }), (slot, second) => {
        const block = new Date(second * 1000);
        const started = slot.filter((one) => one.created_at < startOfNextSecond(block)).slice(-1);
        const after = slot.filter((one) => one.created_at >= startOfNextSecond(block)).slice(0, 1);
        expect(matchPayment([...started, ...after], block)).toBe(matchPayment(slot, block));
      }),
    );
  });

  test('no block belongs to a payment that was closed by then, or created 15 s after it or later', () => {
    fc.assert(
      fc.property(anySlot, fc.integer({ min: -60, max: 400 }), (slot, second) => {
        const block = new Date(second * 1000);
        const match = matchPayment(slot, block);
        if (match === null) return;
        expect(block < paymentWindow(match).end).toBe(true);
        expect(match.created_at.getTime() - block.getTime()).toBeLessThan(15_000);
      }),
    );
  });
});

/** Payments one after the other, as the slot's uniqueness forces them: each starts after the one before was closed. */
const anySlot = fc
  .array(
    fc.record({
      pauseMs: fc.integer({ min: 0, max: 30_000 }),
      lifeMs: fc.integer({ min: 1, max: 60_000 }),
      end: fc.constantFrom('expired', 'cancelled', 'paid'),
    }),
    { minLength: 1, maxLength: 5 },
  )
  .map((steps) => {
    let clock = 0;
    return steps.map(({ pauseMs, lifeMs, end }): PaymentTimes => {
      const start = clock + pauseMs;
      clock = start + lifeMs;
      return {
        created_at: new Date(start),
        // A payment that was paid leaves its slot before its time is over.
        expires_at: new Date(end === 'expired' ? clock : clock + 60_000),
        cancelled_at: end === 'cancelled' ? new Date(clock) : null,
      };
    });
  });

describe('why a transfer pays nothing', () => {
  const reason = (change: Partial<PaymentTimes> & { status?: string }, units: bigint, time: string) =>
    unmatchedReason(
      { status: 'EXPIRED', tokenUnits: 10n, ...payment(), ...change },
      { tokenUnits: units, blockTime: at(time) },
    );

  test('another amount is underpaid or overpaid, whatever the time', () => {
    expect(reason({}, 9n, '12:10:00.000')).toBe('underpaid');
    expect(reason({}, 11n, '13:00:00.000')).toBe('overpaid');
  });

  test('the exact amount is late after the expiry, and after_cancel from the second of the cancellation on', () => {
    expect(reason({}, 10n, '13:00:00.000')).toBe('late');
    const cancelled = { status: 'CANCELLED', cancelled_at: at('12:10:05.900') };
    expect(reason(cancelled, 10n, '12:10:05.000')).toBe('after_cancel');
    // Long before the payment: it did not come after the cancellation either.
    expect(reason(cancelled, 10n, '11:00:00.000')).toBe('late');
  });

  test('the exact amount is a duplicate when another transfer pays or is about to', () => {
    expect(reason({ status: 'PAID' }, 10n, '12:10:00.000')).toBe('duplicate');
    expect(reason({ status: 'CHECKING' }, 10n, '12:10:00.000')).toBe('duplicate');
  });
});

describe('an amount is near enough to have been meant', () => {
  test.each([
    [5n, true],
    [4n, false],
    [10n, true],
    [20n, true],
    [21n, false],
  ])('from half of what was asked to twice as much: %s of 10', (units, isClose) => {
    expect(isCloseAmount(units, 10n)).toBe(isClose);
  });
});

describe('why a transfer that pays nothing does not pay one payment', () => {
  type Shown = Parameters<typeof unmatchedReasonFor>;
  const reason = (ofTransfer: Partial<Shown[1]>, ofPayment: Partial<Shown[0]> = {}) =>
    unmatchedReasonFor(
      { payment_id: 'pay_1', status: 'EXPIRED', amount_units: 10_000_000n, ...payment(), ...ofPayment },
      {
        ...{ amount_units: '10000000', decimals: 6, block_timestamp: at('13:00:00.000') },
        ...{ related_payment_id: null, reason: null, ...ofTransfer },
      },
    );

  test('is what was found out for the payment that it is related to, whatever the times say', () => {
    expect(reason({ related_payment_id: 'pay_1', reason: 'duplicate' })).toBe('duplicate');
    expect(reason({ related_payment_id: 'pay_1', reason: null })).toBeNull();
  });

  test('is nothing for the exact amount of another payment', () => {
    expect(reason({ related_payment_id: 'pay_2', reason: 'late' })).toBeNull();
  });

  test('is nothing for the exact amount while the payment waits, since that is yet to be decided about', () => {
    expect(reason({ block_timestamp: at('12:10:00.000') }, { status: 'PENDING' })).toBeNull();
  });

  test('is the time, for the exact amount that no payment was meant for', () => {
    expect(reason({})).toBe('late');
  });

  test('is the amount, for any other one, in the units of the token, also when it was another payment’s', () => {
    expect(reason({ amount_units: '9999999' })).toBe('underpaid');
    expect(reason({ amount_units: '10000001', related_payment_id: 'pay_2', reason: 'late' })).toBe('overpaid');
    expect(reason({ amount_units: '9999999', block_timestamp: at('12:10:00.000') })).toBe('underpaid');
    expect(reason({ amount_units: '10000000000000000001', decimals: 18 })).toBe('overpaid');
    expect(reason({ amount_units: '10000000000000000000', decimals: 18 })).toBe('late');
  });
});
