import { describe, expect, test } from '@jest/globals';
import type { ErrorCategory } from '@quittance/contracts/webhook.ts';
import { createHostCircuits } from '../src/lanes/host-circuits.ts';

function circuitsAt() {
  let nowMs = 1_000;
  const hostCircuits = createHostCircuits({ recoveredAt: 8, nowMs: () => nowMs });
  const fail = (times: number, category: ErrorCategory = 'connect_timeout', host = 'a.io') => {
    for (let n = 0; n < times; n += 1) hostCircuits.record(host, category);
  };
  /** The twentieth failure, five seconds after the first. */
  const open = () => {
    fail(19);
    nowMs += 5_000;
    fail(1);
  };
  return { hostCircuits, fail, open, pass: (ms: number) => void (nowMs += ms) };
}

describe("a host's circuit", () => {
  test('opens after twenty failures in a row, but not within five seconds', () => {
    const { hostCircuits, fail, pass } = circuitsAt();
    fail(40);
    expect(hostCircuits.limit('a.io')).toBe(Infinity);
    pass(5_000);
    fail(1);
    expect([hostCircuits.limit('a.io'), hostCircuits.pauseMs('a.io'), hostCircuits.openCount()]).toEqual([1, 1_000, 1]);
  });

  test.each(['dns_error', 'connect_refused', 'connect_timeout', 'network_unreachable', 'tls_error'] as const)(
    'counts %s as a failure to connect',
    (category) => {
      const { hostCircuits, fail, pass } = circuitsAt();
      fail(20, category);
      pass(5_000);
      fail(1, category);
      expect(hostCircuits.pauseMs('a.io')).toBe(1_000);
    },
  );

  test.each(['http_4xx', 'http_5xx', 'redirect', 'protocol_error', 'response_timeout', 'connection_reset'] as const)(
    'of a shared host is not opened by one merchant whose receiver answers %s',
    (category) => {
      const { hostCircuits, fail, pass } = circuitsAt();
      fail(19);
      fail(1, category);
      pass(5_000);
      fail(100, category);
      fail(19);
      expect(hostCircuits.limit('a.io')).toBe(Infinity);
    },
  );

  test.each(['blocked_address', 'interrupted'] as const)('does not change after %s', (category) => {
    const { hostCircuits, fail, pass } = circuitsAt();
    fail(19);
    pass(5_000);
    fail(100, category);
    expect(hostCircuits.limit('a.io')).toBe(Infinity);
    fail(1);
    expect(hostCircuits.limit('a.io')).toBe(1);
  });

  test('stays open for twice as long after each failed probe, up to a minute', () => {
    const { hostCircuits, fail, open, pass } = circuitsAt();
    open();
    const pauses = Array.from({ length: 8 }, () => {
      const pause = hostCircuits.pauseMs('a.io');
      pass(pause);
      expect(hostCircuits.pauseMs('a.io')).toBe(0);
      fail(1);
      return pause / 1000;
    });
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  });

  test('does not open for longer because of attempts that were in flight when it opened', () => {
    const { hostCircuits, fail, open } = circuitsAt();
    open();
    fail(7);
    expect(hostCircuits.pauseMs('a.io')).toBe(1_000);
  });

  test('counts as open until an attempt connects', () => {
    const { hostCircuits, fail, open, pass } = circuitsAt();
    open();
    pass(1_000);
    expect(hostCircuits.openCount()).toBe(1);
    fail(1);
    pass(2_000);
    hostCircuits.record('a.io', null);
    expect(hostCircuits.openCount()).toBe(0);
  });

  test('closes slowly, and opens for longer if an attempt fails meanwhile', () => {
    const { hostCircuits, fail, open, pass } = circuitsAt();
    open();
    pass(1_000);
    hostCircuits.record('a.io', null);
    expect(hostCircuits.limit('a.io')).toBe(2);
    fail(1);
    expect([hostCircuits.limit('a.io'), hostCircuits.pauseMs('a.io')]).toEqual([1, 2_000]);
    pass(2_000);
    const limits = ['http_5xx', null, null].map((category) => {
      hostCircuits.record('a.io', category as ErrorCategory | null);
      return hostCircuits.limit('a.io');
    });
    expect(limits).toEqual([2, 4, Infinity]);
    expect(hostCircuits.limited()).toEqual([]);
  });

  test('is forgotten when the host gets no more attempts', () => {
    const { hostCircuits, fail, open, pass } = circuitsAt();
    open();
    pass(600_000);
    fail(1, 'tls_error', 'b.io');
    expect(hostCircuits.limited()).toEqual([]);
  });
});
