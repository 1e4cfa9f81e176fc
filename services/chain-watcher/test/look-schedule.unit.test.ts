import { describe, expect, test } from '@jest/globals';
import { chanceOf } from './random-run/chance.ts';
import { lookRegularly, mean, simulate, type SimulatedBlock } from './look-simulation.ts';

const SECOND = 1_000;
const chance = () => chanceOf(7);

/** Blocks every `seconds` that appear this long after their timestamps. */
const regular = (count: number, seconds: number, lateMs: (number: number) => number): SimulatedBlock[] =>
  Array.from({ length: count }, (_, number) => ({
    timestamp: number * seconds,
    at: number * seconds * SECOND + lateMs(number),
  }));

/** What happens after the schedule has learnt the chain's times. */
const settled = (values: readonly number[]): number[] => values.slice(20);

describe('a chain whose blocks come at regular times', () => {
  test.each([
    [12, 1_000],
    [3, 1_000],
    [2, 1_000],
  ])(
    'every %d s needs hardly more than one look for each block, and each block is found immediately',
    (seconds, intervalMs) => {
      const { looks, waitsMs } = simulate(
        regular(500, seconds, () => 730),
        { intervalMs, everySeconds: seconds },
      );
      expect(looks).toBeLessThan(1.3 * 500);
      expect(Math.max(...settled(waitsMs))).toBeLessThanOrEqual(150);
    },
  );

  test.each([
    [12, 800],
    [3, 250],
    [2, 200],
  ])('every %d s, but up to %d ms early or late, are found no later than by regular looks', (seconds, spreadMs) => {
    const random = chance();
    const blocks = regular(2_000, seconds, () => 2_000 + random.between(-spreadMs, spreadMs));
    const bySchedule = simulate(blocks, { intervalMs: SECOND, everySeconds: seconds });
    const byInterval = lookRegularly(blocks, SECOND);
    expect(mean(bySchedule.waitsMs)).toBeLessThanOrEqual(mean(byInterval.waitsMs));
    expect(bySchedule.looks).toBeLessThan(byInterval.looks);
  });

  test('is polled at the usual interval while a block is late', () => {
    const random = chance();
    let slot = 0;
    const blocks = Array.from({ length: 500 }, () => {
      slot += random.happens(0.05) ? random.between(2, 4) : 1;
      return { timestamp: 12 * slot, at: 12 * SECOND * slot + 900 };
    });
    const { looks, waitsMs } = simulate(blocks, { intervalMs: SECOND, everySeconds: 12 });
    expect(Math.max(...waitsMs)).toBeLessThanOrEqual(SECOND);
    expect(looks).toBeLessThan(500 * 3);
  });

  test('is followed when its blocks start to come later, and earlier again', () => {
    const blocks = regular(900, 12, (number) => (number >= 300 && number < 600 ? 3_500 : 700));
    const { looks, waitsMs } = simulate(blocks, { intervalMs: SECOND, everySeconds: 12 });
    const afterEach = [300, 600].flatMap((change) => waitsMs.slice(change + 50, change + 300));
    expect(Math.max(...afterEach)).toBeLessThanOrEqual(SECOND);
    expect(mean(waitsMs.slice(320, 600))).toBeLessThan(150);
    expect(looks).toBeLessThan(900 * 2);
  });
});

test('a chain whose blocks come at irregular times is polled at the usual interval', () => {
  const random = chance();
  let at = 0;
  const blocks = Array.from({ length: 1_000 }, () => {
    at += random.weighted([
      [3, random.between(5, 400)],
      [1, random.between(1_000, 20_000)],
    ]);
    return { timestamp: Math.floor(at / SECOND), at };
  });
  const { waitsMs } = simulate(blocks, { intervalMs: 100, everySeconds: 1 });
  expect(Math.max(...waitsMs)).toBeLessThanOrEqual(100);
});

test('a chain whose blocks come faster than looks is polled at the usual interval, with or without announcements', () => {
  const blocks = Array.from({ length: 4_000 }, (_, number) => {
    const at = 450 * number;
    return { timestamp: Math.floor(at / SECOND), at, announcedAt: [at] };
  });
  const lookEveryMs = (4_000 * 450) / simulate(blocks, { intervalMs: 2_400, everySeconds: 0.45 }).looks;
  expect(lookEveryMs).toBeGreaterThan(2_300);
  expect(lookEveryMs).toBeLessThan(2_500);
});

describe('announcements', () => {
  const announced = (count: number, isHeard: (number: number) => boolean) => {
    const random = chance();
    return regular(count, 12, () => 2_000 + random.between(-1_500, 1_500)).map((block, number) => ({
      ...block,
      announcedAt: isHeard(number) ? [block.at + 11, block.at + 90] : [],
    }));
  };

  test('by two endpoints replace all other looks, with one look for each block', () => {
    const blocks = announced(300, () => true);
    const { looks, waitsMs } = simulate(blocks, { intervalMs: SECOND, everySeconds: 12 });
    expect(Math.max(...settled(waitsMs))).toBe(11);
    expect(looks).toBeLessThan(300 * 1.1);
  });

  test('that stop silently delay one block by half a block time, and no other', () => {
    const blocks = announced(300, (number) => number < 100 || number >= 200);
    const { waitsMs } = simulate(blocks, { intervalMs: SECOND, everySeconds: 12 });
    expect(waitsMs[100]).toBeLessThanOrEqual(8 * SECOND);
    expect(Math.max(...waitsMs.slice(101, 200))).toBeLessThanOrEqual(3 * SECOND);
    expect(mean(waitsMs.slice(101, 200))).toBeLessThan(SECOND);
    expect(Math.max(...waitsMs.slice(201))).toBe(11);
  });

  test('of blocks that never come do not hide other blocks', () => {
    const blocks = regular(300, 12, () => 900);
    const foreign = Array.from({ length: 700 }, (_, index) => index * 5_300);
    const { waitsMs } = simulate(blocks, { intervalMs: SECOND, everySeconds: 12, foreign });
    expect(Math.max(...waitsMs)).toBeLessThanOrEqual(5_300);
  });
});
