import { describe, expect, test } from '@jest/globals';
import { createLanes } from '../src/lanes.ts';

const place = (merchant_id: string, host = `${merchant_id}.io`) => ({ merchant_id, host });

describe('the bounds on attempts in flight', () => {
  test('a lane at its bound lets nothing more in, and other lanes do not notice', () => {
    const lanes = createLanes({ lane: 2, host: 9, process: 9 });
    expect([1, 2, 3].map(() => lanes.enter(place('a')))).toEqual([true, true, false]);
    expect(lanes.enter(place('b'))).toBe(true);
    expect(lanes.inFlight()).toEqual({ merchantIds: ['a', 'b'], counts: [2, 1] });
  });

  test('merchants that share a host share its bound', () => {
    const lanes = createLanes({ lane: 9, host: 2, process: 9 });
    expect(['a', 'b', 'c'].map((merchant) => lanes.enter(place(merchant, 'shared.io')))).toEqual([true, true, false]);
    expect(lanes.fullHosts()).toEqual(['shared.io']);
    expect(lanes.enter(place('c', 'own.io'))).toBe(true);
  });

  test('the process has a bound of its own', () => {
    const lanes = createLanes({ lane: 9, host: 9, process: 2 });
    expect(['a', 'b', 'c'].map((merchant) => lanes.enter(place(merchant)))).toEqual([true, true, false]);
    expect(lanes.room()).toBe(0);
  });

  test('leaving says whether somebody may have waited, and leaves nothing behind', () => {
    const lanes = createLanes({ lane: 2, host: 9, process: 9 });
    lanes.enter(place('a'));
    lanes.enter(place('a'));
    expect([lanes.leave(place('a')), lanes.leave(place('a'))]).toEqual([true, false]);
    expect(lanes.inFlight()).toEqual({ merchantIds: [], counts: [] });
    expect(lanes.room()).toBe(9);
  });
});
