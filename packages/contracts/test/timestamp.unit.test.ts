import { expect, test } from '@jest/globals';
import { parseRfc3339 } from '../src/timestamp.ts';

test.each([0, 1, 951_782_399_999, 1_709_164_800_000, Date.UTC(9999, 11, 31, 23, 59, 59, 999)])(
  'the time %d is read back as it was written',
  (time) => {
    expect(parseRfc3339(new Date(time).toISOString())).toEqual(new Date(time));
  },
);

test.each(['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.5Z', '2024-02-29T00:00:00.000Z'])('%s is a time', (text) => {
  expect(parseRfc3339(text)).toEqual(new Date(text));
});

test.each([
  '2026-02-31T00:00:00Z',
  '2025-02-29T00:00:00Z',
  '2026-04-31T23:59:59.999Z',
  '2026-01-01T24:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-01-01T00:00:60Z',
  '2026-01-01T00:00:00+00:00',
  '2026-01-01T00:00:00',
  '2026-01-01',
  '+002026-01-01T00:00:00Z',
  '',
])('%j is not a time', (text) => {
  expect(parseRfc3339(text)).toBeNull();
});
