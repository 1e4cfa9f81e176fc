import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { newId } from '../src/ids.ts';
import { newPaymentId, parseReference, referenceOf } from '../src/payment-reference.ts';

const idEndingWith = (digits: string) => `pay_${'0'.repeat(22)}${digits}`;

describe('the reference of a payment', () => {
  test.each([
    ['0000000000', '00000000'],
    ['ffffffffff', 'ZZZZZZZZ'],
    ['4af36360b1', '9BSP6R5H'],
  ])('of an id that ends with %s is %s', (digits, reference) => {
    expect(referenceOf(idEndingWith(digits))).toBe(reference);
    expect(parseReference(reference)).toBe(digits);
  });

  test('can be converted back to the end of the id, in either case', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date('2200-01-01'), noInvalidDate: true }), (now) => {
        const id = newId('pay', now);
        const reference = referenceOf(id);
        expect(reference).toMatch(/^[0-9A-HJKMNP-TV-Z]{8}$/);
        expect([reference, reference.toLowerCase()].map(parseReference)).toEqual([id.slice(-10), id.slice(-10)]);
      }),
    );
  });

  test('is never a number or a date for a spreadsheet', () => {
    const now = new Date('2026-01-31T12:00:00Z');
    const references = Array.from({ length: 20_000 }, () => referenceOf(newPaymentId(now)));
    expect(references.filter((reference) => !Number.isNaN(Number(reference)))).toEqual([]);
    expect(references.filter((reference) => /^\d*[A-Z]*\d*$/.test(reference))).toEqual([]);
    expect(new Set(references).size).toBeGreaterThan(19_990);
  });

  test('may be written with the letters that look like digits', () => {
    expect(parseReference('oO1lLiI0')).toBe(parseReference('00111110'));
  });

  test.each(['', '0000000', '000000000', '0000000U', '0000 000', '0000-000', '０0000000'])('is not %j', (text) => {
    expect(parseReference(text)).toBeNull();
  });
});
