import { describe, expect, jest, test } from '@jest/globals';
import { auditPauseMs, createProgress } from '../src/reread/audit.ts';
import { takeTurns, type SecondReadingJob, type StoreResult } from '../src/reread/background.ts';
import { wasWatched } from '../src/reread/second-reading.ts';
import type { WatchSpan } from '../src/watches/watch.sql.ts';

describe('the endpoint that a block was read from', () => {
  test('is stored by spans, and before this term it was the first endpoint', () => {
    const progress = createProgress(0, 10);
    progress.onRead(12, 0);
    progress.onRead(15, 1);
    progress.onRead(15, 0);
    progress.onRead(20, 1);
    progress.onRead(21, 0);
    expect([5, 12, 13, 20, 21].map((number) => progress.sourceOf(number))).toEqual([
      { through: 12, endpoint: 0 },
      { through: 12, endpoint: 0 },
      { through: 20, endpoint: 1 },
      { through: 20, endpoint: 1 },
      { through: 21, endpoint: 0 },
    ]);
    progress.moveTo(12);
    expect(progress.sourceOf(13)).toEqual({ through: 20, endpoint: 1 });
  });

  test('is that of the back-fill, for a block that was read again', () => {
    const progress = createProgress(0, 10);
    progress.onRead(30, 1);
    progress.onReadAgain({ from: 15, through: 20 }, 2);
    expect([10, 14, 15, 20, 21].map((number) => progress.sourceOf(number))).toEqual([
      { through: 10, endpoint: 0 },
      { through: 14, endpoint: 1 },
      { through: 20, endpoint: 2 },
      { through: 20, endpoint: 2 },
      { through: 30, endpoint: 1 },
    ]);
    progress.onReadAgain({ from: 15, through: 20 }, 1);
    expect(progress.sourceOf(11)).toEqual({ through: 30, endpoint: 1 });
    progress.onReadAgain({ from: 25, through: 30 }, 0);
    progress.onRead(31, 0);
    expect(progress.sourceOf(26)).toEqual({ through: 31, endpoint: 0 });
  });

  test('is dropped with the blocks that a reorg removes', () => {
    const progress = createProgress(0, 10);
    progress.onRead(20, 1);
    progress.onRewind(15);
    progress.onRead(18, 0);
    expect(progress.sourceOf(14)).toEqual({ through: 15, endpoint: 1 });
    expect(progress.sourceOf(16)).toEqual({ through: 18, endpoint: 0 });
  });

  test('needs no more memory when endpoints change often', () => {
    const progress = createProgress(0, 0);
    for (let number = 1; number <= 5_000; number += 1) progress.onRead(number, number % 2);
    expect(progress.sourceOf(4_999)).toEqual({ through: 4_999, endpoint: 1 });
    expect(progress.sourceOf(1).through).toBeGreaterThan(3_000);
  });

  test('and the audit goes back to blocks that were read again, or that a reorg removed', () => {
    const progress = createProgress(50, 60);
    expect(progress.audited()).toBe(50);
    progress.moveTo(55);
    progress.onReadAgain({ from: 41, through: 45 }, 1);
    expect(progress.audited()).toBe(40);
    progress.onRewind(45);
    expect(progress.audited()).toBe(40);
    progress.onRewind(38);
    expect(progress.audited()).toBe(38);
  });
});

test('blocks are audited in ranges: those of a minute on Ethereum, those of half a minute on BNB Chain', () => {
  const pauses = [1_000, 500, 25, 600_000].map((poll_interval_ms) => auditPauseMs({ poll_interval_ms }));
  expect(pauses).toEqual([60_000, 30_000, 2_000, 60_000]);
});

describe('a transfer counts as missed', () => {
  const start = 1_800_000_000;
  const watch: WatchSpan = {
    address: `0x${'ab'.repeat(20)}`,
    state: 'watching',
    watchedFrom: new Date(start * 1000),
    backFillTo: null,
    endedThrough: null,
  };
  const ended = { state: 'ended', endedThrough: new Date((start + 100) * 1000) } as const;

  test.each<[string, Partial<WatchSpan>, number, number, boolean]>([
    ['to a watched wallet', {}, 7, start, true],
    ['within the margin that blocks may be early by', {}, 7, start - 150, true],
    ['from before that', {}, 7, start - 151, false],
    ['to a wallet that no leader has taken in', { state: 'new' }, 7, start, false],
    ['in a block that is still being read again', { state: 'backfilling', backFillTo: 7 }, 7, start, false],
    ['in one above those', { state: 'backfilling', backFillTo: 7 }, 8, start, true],
    ['before the watching ended', ended, 7, start + 99, true],
    ['after the watching ended', ended, 7, start + 100, false],
  ])('%s', (_name, changes, blockNumber, blockTimestamp, expected) => {
    expect(wasWatched({ ...watch, ...changes }, { blockNumber, blockTimestamp })).toBe(expected);
  });
});

describe('a second reading in the background', () => {
  const idle: SecondReadingJob = { next: () => Promise.resolve(null) };
  /** A job with one piece to read, and how often it was asked for one. */
  function jobOf(read: () => Promise<StoreResult>) {
    const pieces = [read];
    const next = jest.fn<SecondReadingJob['next']>(() => Promise.resolve(pieces.shift() ?? null));
    return { next };
  }
  const soon = () => new Promise((resolve) => setImmediate(resolve));

  test('is stored once, when the loop asks', async () => {
    const [wake, store] = [jest.fn(), jest.fn<StoreResult>(() => Promise.resolve())];
    const { promise, resolve } = Promise.withResolvers<StoreResult>();
    const job = jobOf(() => promise);
    const readings = takeTurns(job, idle, wake);
    await readings.run(true);
    await readings.run(true);
    expect(job.next).toHaveBeenCalledTimes(1);
    resolve(store);
    await soon();
    expect(wake).toHaveBeenCalledTimes(1);
    expect(store).not.toHaveBeenCalled();
    await readings.run(true);
    await readings.run(true);
    expect(store).toHaveBeenCalledTimes(1);
    expect(job.next).toHaveBeenCalledTimes(3);
  });

  test('throws its error in the loop, and the next piece is read', async () => {
    const job = jobOf(() => Promise.reject(new Error('the database is away')));
    const readings = takeTurns(job, idle, jest.fn());
    await readings.run(true);
    await soon();
    await expect(readings.run(true)).rejects.toThrow('the database is away');
    await readings.run(true);
    expect(job.next).toHaveBeenCalledTimes(2);
  });

  test('is not stored once its blocks are gone', async () => {
    const store = jest.fn<StoreResult>(() => Promise.resolve());
    const job = jobOf(() => Promise.resolve(store));
    const readings = takeTurns(job, idle, jest.fn());
    await readings.run(true);
    readings.abandon();
    await soon();
    await readings.run(true);
    expect(store).not.toHaveBeenCalled();
    expect(job.next).toHaveBeenCalledTimes(2);
  });

  test('alternates between the two jobs', async () => {
    const reader = (): SecondReadingJob => ({
      next: jest.fn(() => Promise.resolve(() => Promise.resolve(() => Promise.resolve()))),
    });
    const [one, other] = [reader(), reader()];
    const readings = takeTurns(one, other, jest.fn());
    for (let turn = 0; turn < 4; turn += 1) {
      await readings.run(true);
      await soon();
    }
    expect(one.next).toHaveBeenCalledTimes(2);
    expect(other.next).toHaveBeenCalledTimes(2);
  });
});
