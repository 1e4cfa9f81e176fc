import { createLookSchedule } from '../src/follow/look-schedule.ts';

/** A block of the simulated chain. `at`: when the endpoints have it. `announcedAt`: when each of them announces it. In milliseconds. */
export type SimulatedBlock = { timestamp: number; at: number; announcedAt?: readonly number[] };

export type Simulation = {
  /** The number of looks so far. */
  looks: number;
  /** For each block, the milliseconds from when it appears until it is found. */
  waitsMs: number[];
};

const HISTORY = 40;
const OFFSET_SECONDS = 1_800_000_000;
const hashOf = (number: number) => `0x${number.toString(16)}`;

/**
 * Follows a chain by the schedule, on a clock of its own, where looking takes no time.
 * @param blocks ascending; their timestamps are seconds from any time on. As many as 40 before them were `everySeconds` apart.
 * @param foreign announcements of other blocks, in milliseconds.
 */
export function simulate(
  blocks: readonly SimulatedBlock[],
  { intervalMs, everySeconds, foreign = [] }: { intervalMs: number; everySeconds: number; foreign?: readonly number[] },
): Simulation {
  let clock = (blocks[0]?.at ?? 0) - 1;
  const first = blocks[0]?.timestamp ?? 0;
  const known = Array.from({ length: HISTORY }, (_, index) => ({
    number: index,
    hash: hashOf(index),
    timestamp: OFFSET_SECONDS + first - (HISTORY - index) * everySeconds,
  }));
  const tip = () => known.at(-1)!;
  const schedule = createLookSchedule(
    { tip, atOrBelow: (number) => known[Math.min(number, known.length - 1)] },
    intervalMs,
    () => clock,
  );
  const announcements = [
    ...blocks.flatMap(({ announcedAt = [] }, index) =>
      announcedAt.map((at) => ({ at, hash: hashOf(HISTORY + index) })),
    ),
    ...foreign.map((at) => ({ at, hash: '0xfeed' })),
  ].sort((a, b) => a.at - b.at);
  const result: Simulation = { looks: 0, waitsMs: [] };
  while (known.length < HISTORY + blocks.length) {
    const [announcement] = announcements;
    if (announcement !== undefined && announcement.at <= clock + schedule.dueInMs()) {
      announcements.shift();
      clock = Math.max(clock, announcement.at);
      schedule.announced(announcement.hash);
      continue;
    }
    clock += schedule.dueInMs();
    result.looks += 1;
    for (let next = blocks[known.length - HISTORY]; next !== undefined && next.at <= clock;) {
      result.waitsMs.push(clock - next.at);
      known.push({ number: known.length, hash: hashOf(known.length), timestamp: OFFSET_SECONDS + next.timestamp });
      next = blocks[known.length - HISTORY];
    }
    schedule.looked(clock, true);
  }
  return result;
}

/** The result of looks at a fixed interval. */
export function lookRegularly(blocks: readonly SimulatedBlock[], intervalMs: number): Simulation {
  const start = (blocks[0]?.at ?? 0) - 1;
  const waitsMs = blocks.map(({ at }) => start + Math.ceil((at - start) / intervalMs) * intervalMs - at);
  return { looks: Math.ceil(((blocks.at(-1)?.at ?? 0) - start) / intervalMs), waitsMs };
}

export const mean = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0) / values.length;
