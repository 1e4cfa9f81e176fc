import { describe, expect, test } from '@jest/globals';
import type { TransferObserved } from '@quittance/contracts/messages.ts';
import { byOurClock, widened } from '../src/expiry/clocks.ts';

const message = { first_seen_at: '2026-03-01T12:00:10.000Z', live: true } as TransferObserved;

describe('when chain-watcher’s database has a different clock', () => {
  test.each([
    [3_000, '2026-03-01T12:00:07.000Z'],
    [-3_000, '2026-03-01T12:00:13.000Z'],
    [0, '2026-03-01T12:00:10.000Z'],
  ])('which is %i ms ahead, a first reading is converted to ours', (ms, expected) => {
    expect(byOurClock(message, { ms }).first_seen_at).toBe(expected);
  });

  test('a message without a first reading stays without', () => {
    const { first_seen_at: _, ...silent } = message;
    expect(byOurClock(silent, { ms: 3_000 })).toEqual(silent);
  });

  test.each([3_000, -3_000])(
    'a question about a span of time is widened by the difference, on both sides: %i',
    (ms) => {
      const span = { from: new Date('2026-03-01T12:00:00Z'), to: new Date('2026-03-01T12:30:00Z') };
      expect(widened(span, { ms })).toEqual({ from: '2026-03-01T11:59:57.000Z', to: '2026-03-01T12:30:03.000Z' });
    },
  );
});
