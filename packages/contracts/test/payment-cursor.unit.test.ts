import { describe, expect, test } from '@jest/globals';
import { newId } from '../src/ids.ts';
import fc from 'fast-check';
import { readCursor, writeCursor } from '../src/http/payments/payments.ts';

describe('a cursor', () => {
  test('is read as it was written, and is safe in a URL', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true }), (createdAt) => {
        const cursor = { createdAt, paymentId: newId('pay', createdAt) };
        const text = writeCursor(cursor);
        expect(text).toMatch(/^[\w-]+$/);
        expect(readCursor(text)).toEqual(cursor);
      }),
    );
  });

  test('that was not written here is refused', () => {
    const written = writeCursor({ createdAt: new Date(0), paymentId: newId('pay') });
    fc.assert(fc.property(fc.string(), (text) => expect(readCursor(text)).toBeNull()));
    for (const text of [`${written}=`, `${written}A`, written.slice(0, -2), '', 'AAAA'])
      expect(readCursor(text)).toBeNull();
  });
});
