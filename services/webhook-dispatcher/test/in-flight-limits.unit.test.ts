import { describe, expect, test } from '@jest/globals';
import { createHostCircuits } from '../src/lanes/host-circuits.ts';
import { createInFlightLimits, type Place, limits, type Limits } from '../src/lanes/in-flight-limits.ts';
import type { Pace } from '../src/state.ts';

const target = (lane_id: string, pace: Pace = 'quick', host = `${lane_id}.io`) => ({ lane_id, host, pace });

/** Limits that are not tested are high. */
function limitsOf(some: Partial<Limits>) {
  let nowMs = 0;
  const most = {
    lane: 9,
    host: 99,
    process: 999,
    slow: 999,
    unproven: 899,
    unprovenEveryMs: 20,
    ...{ slowAttemptMs: 1_000, slowLaneMs: 5_000 },
    ...some,
  };
  const hostCircuits = createHostCircuits({ recoveredAt: 64, nowMs: () => nowMs });
  const inFlight = createInFlightLimits(most, hostCircuits, () => nowMs);
  return {
    inFlight,
    hostCircuits,
    pass: (ms: number) => void (nowMs += ms),
    /** Starts an attempt at each of several lanes. @returns their places. */
    startEach: (count: number, pace: Pace, label: string = pace): Place[] =>
      Array.from({ length: count }, (_, n) => inFlight.acquire(target(`${label}${n}`, pace))).filter(
        (place) => place !== null,
      ),
    boundOf: (pace: Pace) => inFlight.claimBounds().paces.find((bound) => bound.pace === pace) ?? null,
  };
}

describe('the limits of attempts in flight', () => {
  test('a lane at its limit refuses more, and other lanes are not affected', () => {
    const { inFlight } = limitsOf({ lane: 2 });
    const start = (merchantId: string) => inFlight.acquire(target(merchantId)) !== null;
    expect([start('a'), start('a'), start('a'), start('b')]).toEqual([true, true, false, true]);
    expect(inFlight.claimBounds()).toMatchObject({ room: 996, inFlight: { a: 2, b: 1 } });
  });

  test('merchants that share a host share its limit', () => {
    const { inFlight } = limitsOf({ host: 2, lane: 1 });
    const start = (merchantId: string, host: string) => inFlight.acquire(target(merchantId, 'quick', host)) !== null;
    expect(['a', 'b', 'c'].map((merchantId) => start(merchantId, 'shared.io'))).toEqual([true, true, false]);
    expect(inFlight.claimBounds().hosts).toEqual({ 'shared.io': { room: 0, pause_seconds: 0 } });
    expect(start('c', 'own.io')).toBe(true);
  });

  test("a host with at most one lane's attempts is not listed, and gets no more than it has room for", () => {
    const { inFlight } = limitsOf({ host: 64, lane: 8 });
    for (let n = 0; n < 8; n += 1) inFlight.acquire(target('a'));
    expect(inFlight.claimBounds()).toMatchObject({ perHost: 56, hosts: {} });
    inFlight.acquire(target('b', 'quick', 'a.io'));
    expect(inFlight.claimBounds().hosts).toEqual({ 'a.io': { room: 55, pause_seconds: 0 } });
  });

  test('the process has a limit', () => {
    const { inFlight, startEach } = limitsOf({ process: 2, unproven: 1 });
    expect(startEach(3, 'quick')).toHaveLength(2);
    expect(inFlight.claimBounds()).toMatchObject({ room: 0, paces: [] });
  });

  test('a release returns the paces that may have waited for it, and leaves no entry', () => {
    const { inFlight } = limitsOf({ lane: 2 });
    const [first, second] = [inFlight.acquire(target('a')), inFlight.acquire(target('a'))];
    expect([first?.release(), second?.release()]).toEqual([new Set(['quick']), new Set()]);
    expect(inFlight.claimBounds()).toMatchObject({ room: 999, inFlight: {}, hosts: {} });
  });

  test('a host that cannot be connected to is put off for a few seconds at a time, and then gets one attempt', () => {
    const { inFlight, hostCircuits, pass } = limitsOf({});
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
    expect(inFlight.acquire(target('x', 'quick', 'a.io'))).not.toBeNull();
    expect(inFlight.acquire(target('y', 'quick', 'a.io'))).toBeNull();
  });
});

describe('lanes whose receivers hang', () => {
  test('get only the share of slow lanes, and lanes of other paces are not affected', () => {
    const { startEach, boundOf, inFlight } = limitsOf({ slow: 50 });
    expect(startEach(100, 'slow')).toHaveLength(50);
    expect(boundOf('slow')).toBeNull();
    expect(inFlight.claimBounds().inFlight).toEqual({});
    expect(boundOf('quick')).toEqual({ pace: 'quick', room: 949, perLane: 9 });
    expect(startEach(100, 'quick')).toHaveLength(100);
  });

  test('share it: with more places taken, each lane may have fewer', () => {
    const { startEach, boundOf } = limitsOf({ slow: 64, lane: 8 });
    expect(boundOf('slow')).toEqual({ pace: 'slow', room: 64, perLane: 8 });
    startEach(32, 'slow');
    expect(boundOf('slow')).toEqual({ pace: 'slow', room: 32, perLane: 4 });
    startEach(31, 'slow', 'other');
    expect(boundOf('slow')).toEqual({ pace: 'slow', room: 1, perLane: 1 });
  });

  test('are found while their attempts are still in flight', () => {
    const { inFlight, startEach, pass } = limitsOf({});
    startEach(3, 'quick');
    startEach(2, 'new');
    pass(5_000);
    expect(inFlight.turnedSlow()).toEqual([]);
    expect(inFlight.counts()).toEqual({ quick: 0, new: 0, slow: 5 });
    pass(1);
    const slow = ['quick0', 'quick1', 'quick2', 'new0', 'new1'];
    expect(inFlight.turnedSlow()).toEqual(slow);
    inFlight.markedSlow(slow.slice(1));
    expect(inFlight.turnedSlow()).toEqual(['quick0']);
  });

  test('get no attempts from a claim of quick lanes before they are marked as slow', () => {
    const { inFlight, pass } = limitsOf({ lane: 8 });
    inFlight.acquire(target('a'));
    pass(5_001);
    expect(inFlight.claimBounds(['quick']).inFlight).toEqual({ a: 8 });
    inFlight.markedSlow(['a']);
    expect(inFlight.claimBounds(['quick']).inFlight).toEqual({});
    expect(inFlight.claimBounds(['new', 'slow']).inFlight).toEqual({ a: 1 });
  });

  test('are slow after a second without a whole answer, for any time limit', () => {
    const { inFlight, pass } = limitsOf({});
    const [unanswered, answered] = [inFlight.acquire(target('a', 'new')), inFlight.acquire(target('b', 'new'))];
    pass(1_000);
    expect(inFlight.acquire(target('refused', 'new'))?.ended(false)).toBe('quick');
    pass(1);
    expect([unanswered?.ended(false), answered?.ended(true)]).toEqual(['slow', 'quick']);
  });

  test('do not wake claims of quick lanes when they free their places', () => {
    const { inFlight, startEach } = limitsOf({ slow: 2 });
    const [first] = startEach(2, 'slow');
    expect(first?.release()).toEqual(new Set(['slow']));
    const shared = inFlight.acquire(target('a', 'slow', 'shared.io'));
    for (let n = 0; n < 98; n += 1) inFlight.acquire(target(`other${n}`, 'quick', 'shared.io'));
    expect(shared?.release()).toEqual(new Set(['slow', 'quick', 'new']));
  });

  test('are quick again after an attempt that ends in time, unless another attempt still hangs', () => {
    const { inFlight, pass } = limitsOf({});
    const hanging = inFlight.acquire(target('a'));
    pass(5_001);
    expect(inFlight.acquire(target('a'))?.ended(true)).toBe('slow');
    expect(hanging?.ended(true)).toBe('slow');
    expect(inFlight.acquire(target('a', 'slow'))?.ended(true)).toBe('quick');
  });

  test('take places of slow lanes with an attempt of one second, and are slow only after five', () => {
    const { inFlight, pass, boundOf } = limitsOf({ slow: 50 });
    const attempt = inFlight.acquire(target('a'));
    pass(1_001);
    expect(boundOf('slow')).toMatchObject({ room: 49 });
    expect([inFlight.turnedSlow(), attempt?.ended(true)]).toEqual([[], 'quick']);
    expect(boundOf('slow')).toMatchObject({ room: 50 });
  });

  test('a new lane has one attempt, and new lanes together have the rest of the share of slow lanes', () => {
    const { startEach, boundOf } = limitsOf({ unproven: 20 });
    startEach(5, 'slow');
    expect(boundOf('new')).toEqual({ pace: 'new', room: 15, perLane: 1 });
    expect(startEach(30, 'new')).toHaveLength(15);
    expect(boundOf('new')).toBeNull();
  });

  test('a quick answer of a new lane wakes the claims that waited for it', () => {
    const { inFlight } = limitsOf({ unproven: 2 });
    const [first] = [inFlight.acquire(target('a', 'new')), inFlight.acquire(target('b', 'new'))];
    expect([first?.ended(true), first?.release()]).toEqual(['quick', new Set(['new', 'slow', 'quick'])]);
  });

  test('2,000 new lanes leave the quick lanes their own places', () => {
    const { startEach, pass, boundOf } = limitsOf(limits);
    let hanging = 0;
    for (let second = 0; second < 20; second += 1) {
      hanging += startEach(100, 'new', `new${second}-`).length;
      pass(1_001);
      expect(boundOf('quick')).not.toBeNull();
    }
    expect(hanging).toBe(limits.unproven);
    expect(boundOf('quick')).toEqual({ pace: 'quick', room: limits.process - limits.unproven, perLane: limits.lane });
  });

  test('1,000 quick lanes that start to hang together do not fill the process', () => {
    const { inFlight, pass } = limitsOf(limits);
    for (let n = 0; n < 1_000; n += 1) {
      const { paces } = inFlight.claimBounds();
      const perLane = paces.find(({ pace }) => pace === 'quick')?.perLane ?? 0;
      for (let place = 0; place < perLane; place += 1) inFlight.acquire(target(`lane${n}`));
    }
    pass(1_001);
    const { paces } = inFlight.claimBounds();
    expect(paces.map(({ pace }) => pace)).toEqual(['quick']);
    expect(paces[0]?.room).toBeGreaterThan(0);
  });
});
