import { describe, expect, test } from '@jest/globals';
import type { ErrorCategory } from '@quittance/contracts/webhook.ts';
import { createHostBreakers } from '../src/delivery/host-breakers.ts';

function breakersAt() {
  let nowMs = 1_000;
  const breakers = createHostBreakers({ recoveredAt: 8, nowMs: () => nowMs });
  const fail = (times: number, category: ErrorCategory = 'connect_timeout', host = 'a.io') => {
    for (let n = 0; n < times; n += 1) breakers.ended(host, category);
  };
  /** As the first failure long ago and the twentieth now. */
  const close = () => {
    fail(19);
    nowMs += 5_000;
    fail(1);
  };
  return { breakers, fail, close, pass: (ms: number) => void (nowMs += ms) };
}

describe("a host's breaker", () => {
  test('twenty failures in a row close it, but not within five seconds', () => {
    const { breakers, fail, pass } = breakersAt();
    fail(40);
    expect(breakers.cap('a.io')).toBe(Infinity);
    pass(5_000);
    fail(1);
    expect([breakers.cap('a.io'), breakers.restMs('a.io'), breakers.closedCount()]).toEqual([1, 1_000, 1]);
  });

  test.each(['dns_error', 'connect_refused', 'connect_timeout', 'network_unreachable', 'tls_error'] as const)(
    '%s says that nothing connects',
    (category) => {
      const { breakers, fail, pass } = breakersAt();
      fail(20, category);
      pass(5_000);
      fail(1, category);
      expect(breakers.restMs('a.io')).toBe(1_000);
    },
  );

  test.each(['http_4xx', 'http_5xx', 'redirect', 'protocol_error', 'response_timeout', 'connection_reset'] as const)(
    'one merchant cannot close a shared host by answering %s',
    (category) => {
      const { breakers, fail, pass } = breakersAt();
      fail(19);
      fail(1, category);
      pass(5_000);
      fail(100, category);
      fail(19);
      expect(breakers.cap('a.io')).toBe(Infinity);
    },
  );

  test.each(['blocked_address', 'interrupted'] as const)('%s says nothing about it', (category) => {
    const { breakers, fail, pass } = breakersAt();
    fail(19);
    pass(5_000);
    fail(100, category);
    expect(breakers.cap('a.io')).toBe(Infinity);
    fail(1);
    expect(breakers.cap('a.io')).toBe(1);
  });

  test('rests twice as long after each attempt that fails again, a minute at most', () => {
    const { breakers, fail, close, pass } = breakersAt();
    close();
    const rests = Array.from({ length: 8 }, () => {
      const rest = breakers.restMs('a.io');
      pass(rest);
      expect(breakers.restMs('a.io')).toBe(0);
      fail(1);
      return rest / 1000;
    });
    expect(rests).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  });

  test('attempts that were under way when it closed do not prolong its rest', () => {
    const { breakers, fail, close } = breakersAt();
    close();
    fail(7);
    expect(breakers.restMs('a.io')).toBe(1_000);
  });

  test('counts as closed from the first rest until an attempt connects', () => {
    const { breakers, fail, close, pass } = breakersAt();
    close();
    pass(1_000);
    expect(breakers.closedCount()).toBe(1);
    fail(1);
    pass(2_000);
    breakers.ended('a.io', null);
    expect(breakers.closedCount()).toBe(0);
  });

  test('opens slowly, and at once closes again for longer if it fails on the way', () => {
    const { breakers, fail, close, pass } = breakersAt();
    close();
    pass(1_000);
    breakers.ended('a.io', null);
    expect(breakers.cap('a.io')).toBe(2);
    fail(1);
    expect([breakers.cap('a.io'), breakers.restMs('a.io')]).toEqual([1, 2_000]);
    pass(2_000);
    const caps = ['http_5xx', null, null].map((category) => {
      breakers.ended('a.io', category as ErrorCategory | null);
      return breakers.cap('a.io');
    });
    expect(caps).toEqual([2, 4, Infinity]);
    expect(breakers.limited()).toEqual([]);
  });

  test('a host nobody tries any more is forgotten', () => {
    const { breakers, fail, close, pass } = breakersAt();
    close();
    pass(600_000);
    fail(1, 'tls_error', 'b.io');
    expect(breakers.limited()).toEqual([]);
  });
});
