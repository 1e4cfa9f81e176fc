import { describe, expect, test } from '@jest/globals';
import { createHostCircuits } from '../src/delivery/host-circuits.ts';
import { createInFlightLimits, type Limits } from '../src/delivery/in-flight-limits.ts';

const place = (merchant_id: string, host = `${merchant_id}.io`) => ({ merchant_id, host });

function limitsOf(most: Limits) {
  let nowMs = 0;
  const hostCircuits = createHostCircuits({ recoveredAt: 64, nowMs: () => nowMs });
  return { inFlight: createInFlightLimits(most, hostCircuits), hostCircuits, pass: (ms: number) => void (nowMs += ms) };
}

describe('the limits of attempts in flight', () => {
  test('a lane at its limit refuses more, and other lanes are not affected', () => {
    const { inFlight } = limitsOf({ lane: 2, host: 9, process: 9 });
    expect([1, 2, 3].map(() => inFlight.acquire(place('a')))).toEqual([true, true, false]);
    expect(inFlight.acquire(place('b'))).toBe(true);
    expect(inFlight.claimBounds()).toEqual({
      room: 6,
      perLane: 2,
      perHost: 9,
      inFlight: { a: 2, b: 1 },
      hosts: { 'a.io': { room: 7, pause_seconds: 0 }, 'b.io': { room: 8, pause_seconds: 0 } },
    });
  });

  test('merchants that share a host share its limit', () => {
    const { inFlight } = limitsOf({ lane: 9, host: 2, process: 9 });
    expect(['a', 'b', 'c'].map((merchant) => inFlight.acquire(place(merchant, 'shared.io')))).toEqual([
      true,
      true,
      false,
    ]);
    expect(inFlight.claimBounds().hosts).toEqual({ 'shared.io': { room: 0, pause_seconds: 0 } });
    expect(inFlight.acquire(place('c', 'own.io'))).toBe(true);
  });

  test('the process has a limit too', () => {
    const { inFlight } = limitsOf({ lane: 9, host: 9, process: 2 });
    expect(['a', 'b', 'c'].map((merchant) => inFlight.acquire(place(merchant)))).toEqual([true, true, false]);
    expect(inFlight.claimBounds().room).toBe(0);
  });

  test('a release says whether a limit was reached, and leaves no entry behind', () => {
    const { inFlight } = limitsOf({ lane: 2, host: 9, process: 9 });
    inFlight.acquire(place('a'));
    inFlight.acquire(place('a'));
    expect([inFlight.release(place('a')), inFlight.release(place('a'))]).toEqual([true, false]);
    expect(inFlight.claimBounds()).toMatchObject({ room: 9, inFlight: {}, hosts: {} });
    expect(Object.keys(inFlight.claimBounds().inFlight)).toEqual([]);
  });

  test('a host that cannot be connected to is put off, for a few seconds at a time, and then gets one attempt', () => {
    const { inFlight, hostCircuits, pass } = limitsOf({ lane: 9, host: 9, process: 99 });
    const fail = (times: number) => {
      for (let n = 0; n < times; n += 1) hostCircuits.record('a.io', 'connect_refused');
    };
    const limited = () => inFlight.claimBounds().hosts;
    fail(19);
    pass(5_000);
    fail(1);
    expect(limited()).toEqual({ 'a.io': { room: 1, pause_seconds: 1 } });
    for (let rest = 1_000; rest < 60_000; rest *= 2) {
      pass(rest);
      fail(1);
    }
    expect(limited()).toEqual({ 'a.io': { room: 1, pause_seconds: 5 } });
    pass(60_000);
    expect(limited()).toEqual({ 'a.io': { room: 1, pause_seconds: 0 } });
    expect([inFlight.acquire(place('x', 'a.io')), inFlight.acquire(place('y', 'a.io'))]).toEqual([true, false]);
  });
});
