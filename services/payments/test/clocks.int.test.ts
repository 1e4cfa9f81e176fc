import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Pool } from '@quittance/postgres/pool.ts';
import { type TestDatabase, testDatabase, testPool } from '@quittance/testkit/database.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger, testMetrics } from '@quittance/testkit/logger.ts';
import { startCompareClocksLoop } from '../src/expiry/clocks.ts';
import { migrations, schema } from '../src/migrations.ts';

let database: TestDatabase;
let db: Pool;
beforeAll(async () => {
  database = await testDatabase({ schema, migrations });
  db = testPool({ url: database.url, schema, max: 1 });
});
afterAll(async () => {
  await db.end();
  await database.drop();
});

/** What the loop finds when chain-watcher's database answers with this time, after this long. */
async function compare(readClock: () => Promise<Date | null>, known = 0): Promise<number> {
  const clocks = { ms: known };
  let isDone = false;
  const loop = startCompareClocksLoop({
    ...{ db, clocks, logger: testLogger, metrics: testMetrics },
    readClock: async () => {
      try {
        return await readClock();
      } finally {
        isDone = true;
      }
    },
  });
  await eventually(() => expect(isDone).toBe(true));
  await loop.close();
  return clocks.ms;
}

const clockOf = async (ms: number): Promise<Date> => {
  const { rows } = await db.query<{ now: Date }>('select clock_timestamp() as now');
  return new Date(rows[0]!.now.getTime() + ms);
};

describe('the clocks of the two databases', () => {
  test('of one server are one, however long the answer took', async () => {
    expect(await compare(() => clockOf(0))).toBe(0);
    expect(
      await compare(async () => {
        const clock = await clockOf(0);
        await db.query('select pg_sleep(0.3)');
        return clock;
      }),
    ).toBe(0);
  });

  test.each([3_000, -3_000])(
    'of two servers %i ms apart are measured, except for the time that the answer took',
    async (ms) => {
      const found = await compare(() => clockOf(ms));
      expect(Math.sign(found)).toBe(Math.sign(ms));
      expect(Math.abs(found)).toBeLessThanOrEqual(3_000);
      expect(Math.abs(found)).toBeGreaterThan(500);
    },
  );

  test('keep their difference while chain-watcher does not report its clock, or cannot be asked', async () => {
    expect(await compare(() => Promise.resolve(null), 3_000)).toBe(3_000);
    expect(await compare(() => Promise.reject(new Error('nobody there')), 3_000)).toBe(3_000);
  });
});
