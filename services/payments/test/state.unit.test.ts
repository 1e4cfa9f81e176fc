import { describe, expect, test } from '@jest/globals';
import { paymentStatuses } from '@quittance/contracts/api/payment.ts';
import fc from 'fast-check';
import { isUnfinished, statusesBefore, transitions } from '../src/payment/state.ts';

const anyStatus = fc.constantFrom(...paymentStatuses);

describe('the payment state machine', () => {
  test('PAID is final', () => {
    expect(transitions.PAID).toEqual([]);
  });

  test('only a PENDING payment can be cancelled or expire', () => {
    expect(statusesBefore('CANCELLED')).toEqual(['PENDING']);
    expect(statusesBefore('EXPIRED')).toEqual(['PENDING']);
  });

  test('a payment that waits for money or for its confirmations is unfinished', () => {
    expect(paymentStatuses.filter(isUnfinished)).toEqual(['PENDING', 'CHECKING']);
  });

  test('money that came in time pays a payment in every status but PAID', () => {
    expect(statusesBefore('PAID')).toEqual(['PENDING', 'CHECKING', 'EXPIRED', 'CANCELLED']);
  });

  test('a closed payment never becomes unfinished again, so it cannot take back a slot that has a new owner', () => {
    fc.assert(
      fc.property(anyStatus, anyStatus, (from, to) => {
        const allowed = statusesBefore(to).includes(from);
        expect(allowed && !isUnfinished(from) && isUnfinished(to)).toBe(false);
      }),
    );
  });

  test('the guards allow exactly what the table says', () => {
    fc.assert(
      fc.property(anyStatus, anyStatus, (from, to) => {
        expect(statusesBefore(to).includes(from)).toBe((transitions[from] as readonly string[]).includes(to));
      }),
    );
  });
});
