import { describe, expect, test } from '@jest/globals';
import { testLogger as logger } from '@quittance/testkit/logger.ts';
import { createOutcomeWriter } from '../src/lanes/attempts.ts';

const databaseIsAway = Object.assign(new Error('gone'), { code: 'ECONNREFUSED' });

describe('the outcome writer', () => {
  test('writes outcomes that arrive during a write together in the next one', async () => {
    const batches: number[][] = [];
    const writer = createOutcomeWriter<number>({
      write: async (outcomes) => {
        batches.push([...outcomes]);
        await new Promise((resolve) => setImmediate(resolve));
      },
      logger,
    });
    const first = writer(1);
    await new Promise((resolve) => setImmediate(resolve));
    await Promise.all([first, ...[2, 3, 4].map((outcome) => writer(outcome))]);
    expect(batches).toEqual([[1], [2, 3, 4]]);
  });

  test('writes at most 256 outcomes in a batch', async () => {
    const sizes: number[] = [];
    const writer = createOutcomeWriter<number>({
      write: async (outcomes) => void sizes.push(outcomes.length),
      logger,
    });
    await Promise.all(Array.from({ length: 600 }, (_, outcome) => writer(outcome)));
    expect(sizes).toEqual([256, 256, 88]);
  });

  test('waits for an unavailable database, and loses no outcome', async () => {
    const written: number[] = [];
    let failures = 2;
    const writer = createOutcomeWriter<number>({
      write: async (outcomes) => {
        if (failures > 0) {
          failures -= 1;
          throw databaseIsAway;
        }
        written.push(...outcomes);
      },
      logger,
    });
    await Promise.all([1, 2, 3].map((outcome) => writer(outcome)));
    expect(written.toSorted()).toEqual([1, 2, 3]);
  });

  test('writes the others if one outcome cannot be written', async () => {
    const written: number[] = [];
    const writer = createOutcomeWriter<number>({
      write: async (outcomes) => {
        if (outcomes.includes(3)) throw new Error('check violated');
        written.push(...outcomes);
      },
      logger,
    });
    await Promise.all([1, 2, 3, 4].map((outcome) => writer(outcome)));
    expect(written).toEqual([1, 2, 4]);
  });

  test('retries an outcome that waits for a lock after the others', async () => {
    const written: number[] = [];
    let isLocked = true;
    const writer = createOutcomeWriter<number>({
      write: async (outcomes) => {
        if (outcomes.includes(3) && isLocked) throw Object.assign(new Error('lock timeout'), { code: '55P03' });
        written.push(...outcomes);
      },
      logger,
    });
    const settled = [1, 2, 3, 4].map((outcome) => writer(outcome));
    await Promise.all([settled[0], settled[1], settled[3]]);
    expect(written).toEqual([1, 2, 4]);
    isLocked = false;
    await settled[2];
    expect(written).toEqual([1, 2, 4, 3]);
  });
});
