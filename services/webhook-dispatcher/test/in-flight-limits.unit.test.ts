import { describe, expect, test } from '@jest/globals';
import { createHostBreakers } from '../src/delivery/host-breakers.ts';
import { createInFlightLimits } from '../src/delivery/in-flight-limits.ts';
import type { Limits } from '../src/delivery/in-flight-limits.ts';

const place = (merchant_id: string, host = `${merchant_id}.io`) => ({ merchant_id, host });

function lanesOf(bounds: Limits) {
  let nowMs = 0;
  const breakers = createHostBreakers({ recoveredAt: 64, nowMs: () => nowMs });
  return { lanes: createInFlightLimits(bounds, breakers), breakers, pass: (ms: number) => void (nowMs += ms) };
}

describe('the bounds on attempts in flight', () => {
  test('a lane at its bound lets nothing more in, and other lanes do not notice', () => {
    const { lanes } = lanesOf({ lane: 2, host: 9, process: 9 });
    expect([1, 2, 3].map(() => lanes.acquire(place('a')))).toEqual([true, true, false]);
    expect(lanes.acquire(place('b'))).toBe(true);
    expect(lanes.claimBounds()).toEqual({
      room: 6,
      perLane: 2,
      perHost: 9,
      inFlight: { a: 2, b: 1 },
      hosts: { 'a.io': { room: 7, rest: 0 }, 'b.io': { room: 8, rest: 0 } },
    });
  });

  test('merchants that share a host share its bound', () => {
    const { lanes } = lanesOf({ lane: 9, host: 2, process: 9 });
    expect(['a', 'b', 'c'].map((merchant) => lanes.acquire(place(merchant, 'shared.io')))).toEqual([true, true, false]);
    expect(lanes.claimBounds().hosts).toEqual({ 'shared.io': { room: 0, rest: 0 } });
    expect(lanes.acquire(place('c', 'own.io'))).toBe(true);
  });

  test('the process has a bound of its own', () => {
    const { lanes } = lanesOf({ lane: 9, host: 9, process: 2 });
    expect(['a', 'b', 'c'].map((merchant) => lanes.acquire(place(merchant)))).toEqual([true, true, false]);
    expect(lanes.claimBounds().room).toBe(0);
  });

  test('leaving says whether somebody may have waited, and leaves nothing behind', () => {
    const { lanes } = lanesOf({ lane: 2, host: 9, process: 9 });
    lanes.acquire(place('a'));
    lanes.acquire(place('a'));
    expect([lanes.release(place('a')), lanes.release(place('a'))]).toEqual([true, false]);
    expect(lanes.claimBounds()).toMatchObject({ room: 9, inFlight: {}, hosts: {} });
    expect(Object.keys(lanes.claimBounds().inFlight)).toEqual([]);
  });

  test('a host that cannot be connected to is put off, for a few seconds at a time, and then gets one attempt', () => {
    const { lanes, breakers, pass } = lanesOf({ lane: 9, host: 9, process: 99 });
    const fail = (times: number) => {
      for (let n = 0; n < times; n += 1) breakers.ended('a.io', 'connect_refused');
    };
    const put = () => lanes.claimBounds().hosts;
    fail(19);
    pass(5_000);
    fail(1);
    expect(put()).toEqual({ 'a.io': { room: 1, rest: 1 } });
    for (let rest = 1_000; rest < 60_000; rest *= 2) {
      pass(rest);
      fail(1);
    }
    expect(put()).toEqual({ 'a.io': { room: 1, rest: 5 } });
    pass(60_000);
    expect(put()).toEqual({ 'a.io': { room: 1, rest: 0 } });
    expect([lanes.acquire(place('x', 'a.io')), lanes.acquire(place('y', 'a.io'))]).toEqual([true, false]);
  });
});
