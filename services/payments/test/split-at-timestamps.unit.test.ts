import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { splitAtTimestamps } from '../src/creation/split-at-timestamps.ts';

test('the parts with timestamps between them are the JSON text again, whatever its description contains', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'grapheme' }),
        fc.constantFrom('","created_at":"x', '"created_at":"', '\\","expires_at":"', '{"expires_at":""}'),
      ),
      (description) => {
        const json = JSON.stringify({ description, created_at: 'C', expires_at: 'E', paid_at: null });
        const [before, between, after] = splitAtTimestamps(json);
        expect(`${before}C${between}E${after}`).toBe(json);
        expect(after).toBe('","paid_at":null}');
        expect(JSON.parse(`${before}1${between}2${after}`)).toEqual({
          description,
          created_at: '1',
          expires_at: '2',
          paid_at: null,
        });
      },
    ),
  );
});

test('a JSON text without both timestamps is refused', () => {
  expect(() => splitAtTimestamps('{"created_at":"C"}')).toThrow('expires_at');
  expect(() => splitAtTimestamps('{"expires_at":"E"}')).toThrow('created_at');
});
