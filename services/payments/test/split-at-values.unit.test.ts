import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { splitAtValues } from '../src/creation/split-at-values.ts';

const fields = ['amount', 'created_at', 'expires_at'];

test('the parts with the values between them are the JSON text again, whatever a merchant writes into it', () => {
  const hostile = fc.constantFrom('","created_at":"x', '"created_at":"', '\\","expires_at":"', '{"expires_at":""}');
  const text = fc.oneof(fc.string({ unit: 'grapheme' }), hostile);
  const names = fc.constantFrom('amount', 'created_at', 'expires_at', 'requested_amount', 'x');
  fc.assert(
    fc.property(text, fc.dictionary(names, text), (description, metadata) => {
      const values = { amount: '1', description, created_at: 'C', expires_at: 'E' };
      const rest = { paid_at: null, metadata, requested_amount: '2' };
      const json = JSON.stringify({ ...values, ...rest });
      const [before, between, after, end] = splitAtValues(json, fields);
      expect(`${before}1${between}C${after}E${end}`).toBe(json);
      expect(JSON.parse(`${before}7${between}8${after}9${end}`)).toEqual({
        ...values,
        ...rest,
        amount: '7',
        created_at: '8',
        expires_at: '9',
      });
    }),
  );
});

test('a JSON text without one of the fields, or with them in another order, is refused', () => {
  expect(() => splitAtValues('{"amount":"1","created_at":"C"}', fields)).toThrow('expires_at');
  expect(() => splitAtValues('{"expires_at":"E","amount":"1","created_at":"C"}', fields)).toThrow('expires_at');
});
