import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { createCaller, withCaller } from '@quittance/runtime/concurrency/caller.ts';
import { testDatabase, type TestDatabase } from '@quittance/testkit/database.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger } from '@quittance/testkit/logger.ts';

import { isUnavailable } from '../src/errors.ts';
import { createPool, type Pool } from '../src/pool.ts';
import { transaction, type Transaction } from '../src/transaction.ts';

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await testDatabase({ schema: 'shop', migrations: [] });
  pool = createPool({ url: database.url, schema: 'shop', max: 3, logger: testLogger, applicationName: 'test' });
  await pool.query(
    'create table items (name text constraint items_name unique deferrable, stock int not null default 0)',
  );
});
beforeEach(async () => {
  await pool.query('truncate items');
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const names = async () =>
  (await pool.query<{ name: string }>('select name from items order by name')).rows.map((r) => r.name);

const waiting = (hungUp = new AbortController().signal) => createCaller(60_000, hungUp);
const backendOf = async (tx: Transaction) =>
  (await tx.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;

/** The error that `run` threw. */
async function errorOf(run: Promise<unknown>): Promise<unknown> {
  return run.then(
    () => new Error('nothing was thrown'),
    (error: unknown) => error,
  );
}

describe('a transaction', () => {
  test('that succeeds is committed, and only then its hooks run', async () => {
    const seen: string[][] = [];
    const result = await transaction(pool, async (tx) => {
      tx.afterCommit(() => seen.push(['hook']));
      await tx.query(`insert into items values ('a')`);
      seen.push(await names());
      return 'done';
    });
    expect(result).toBe('done');
    expect(seen).toEqual([[], ['hook']]);
    expect(await names()).toEqual(['a']);
  });

  test("may have a shorter lock timeout than the pool, and the next one on its connection has the pool's again", async () => {
    const seen = async (tx: Transaction) => [
      await backendOf(tx),
      (await tx.query<{ lock_timeout: string }>('show lock_timeout')).rows[0]?.lock_timeout,
    ];
    const [backend, limit] = await transaction(pool, seen, { lockTimeoutMs: 250 });
    expect(limit).toBe('250ms');
    expect(await transaction(pool, seen)).toEqual([backend, '2s']);
  });

  test.each(['has hung up', 'has no time left'])(
    'whose caller %s before the commit is undone, is an unavailability, and its connection stays',
    async (reason) => {
      const backends: unknown[] = [];
      const hangUp = new AbortController();
      let leftMs = 60_000;
      const run = async (tx: Transaction) => {
        backends.push(await backendOf(tx));
        await tx.query("insert into items values ('late')");
      };
      const leave = () => (reason === 'has hung up' ? hangUp.abort() : (leftMs = 0));
      const caller = { ...waiting(hangUp.signal), remainingMs: () => leftMs + 60_000, commitWithinMs: () => leftMs };
      const left = withCaller(caller, () =>
        transaction(pool, async (tx) => {
          await run(tx);
          leave();
        }),
      );
      expect(isUnavailable(await errorOf(left))).toBe(true);
      expect(await names()).toEqual([]);
      const refused = withCaller(caller, () => transaction(pool, run));
      expect(isUnavailable(await errorOf(refused))).toBe(true);
      await withCaller(null, () => transaction(pool, run));
      expect(await names()).toEqual(['late']);
      // None for the caller that had already left.
      expect(backends).toHaveLength(2);
      expect(backends[0]).toBe(backends[1]);
    },
  );

  test('of a process that froze after it decided to commit is ended by the server, with its locks', async () => {
    await pool.query(`insert into items values ('a')`);
    const awake = { ...waiting(), remainingMs: () => 700, commitWithinMs: () => 100 };
    const frozen = withCaller(awake, () =>
      transaction(pool, async (tx) => {
        await tx.query(`update items set name = 'late'`);
        await eventually(() => pool.query('select from items for update nowait'));
      }),
    );
    expect(isUnavailable(await errorOf(frozen))).toBe(true);
    expect(await names()).toEqual(['a']);
  });

  test('announces a commit to its caller beforehand, and a rollback not at all', async () => {
    const caller = createCaller(60_000, new AbortController().signal);
    const insert = (tx: Transaction) => tx.query("insert into items values ('a')");
    const failing = transaction(pool, async (tx) => {
      await insert(tx);
      throw new RangeError('changed my mind');
    });
    await expect(withCaller(caller, () => failing)).rejects.toThrow(RangeError);
    expect(caller.awaitsCommit()).toBe(false);
    await withCaller(caller, () => transaction(pool, insert));
    expect(caller.awaitsCommit()).toBe(true);
    expect(await names()).toEqual(['a']);
  });

  test('that throws stores nothing, runs no hook and returns its connection', async () => {
    let hooked = false;
    const failing = transaction(pool, async (tx) => {
      tx.afterCommit(() => void (hooked = true));
      await tx.query(`insert into items values ('a')`);
      throw new RangeError('changed my mind');
    });
    await expect(failing).rejects.toThrow(RangeError);
    expect(hooked).toBe(false);
    expect(await names()).toEqual([]);
    expect(pool.totalCount - pool.idleCount).toBe(0);
  });

  test('in which a failed statement was ignored does not count as committed', async () => {
    const failing = transaction(pool, async (tx) => {
      await tx.query(`insert into items values ('a')`);
      await errorOf(tx.query('select 1/0'));
    });
    await expect(failing).rejects.toThrow('rolled back');
    expect(await names()).toEqual([]);
  });

  test('whose commit the database refuses reports why', async () => {
    const failing = transaction(pool, async (tx) => {
      await tx.query('set constraints all deferred');
      await tx.query(`insert into items values ('a'), ('a')`);
    });
    expect(await errorOf(failing)).toMatchObject({ code: '23505', constraint: 'items_name' });
    expect(await names()).toEqual([]);
  });

  test('cannot be used after its end', async () => {
    const leaked = await transaction(pool, (tx) => Promise.resolve(tx));
    await expect(leaked.query(`insert into items values ('late')`)).rejects.toThrow('has ended');
    expect(await names()).toEqual([]);
  });

  test('that loses its connection between two statements fails as unavailable, and the pool recovers', async () => {
    const failing = transaction(pool, async (tx) => {
      const pid = await backendOf(tx);
      await tx.query(`insert into items values ('a')`);
      await pool.query('select pg_terminate_backend($1, 5000)', [pid]);
    });
    expect(isUnavailable(await errorOf(failing))).toBe(true);
    expect(await names()).toEqual([]);
  });

  test('that loses its connection during a statement fails as unavailable, and the connection is not used again', async () => {
    const failing = transaction(pool, (tx) => tx.query('select pg_terminate_backend(pg_backend_pid())'));
    expect(isUnavailable(await errorOf(failing))).toBe(true);
    expect(await names()).toEqual([]);
  });

  test('that waits too long for a lock fails as unavailable, and its connection is kept', async () => {
    await pool.query(`insert into items values ('a')`);
    const failing = transaction(pool, async (holder) => {
      await holder.query('update items set stock = 1');
      await transaction(pool, async (waiter) => {
        await waiter.query(`set local lock_timeout = '50ms'`);
        await waiter.query('update items set stock = 2');
      });
    });
    expect(await errorOf(failing)).toMatchObject({ code: '55P03' });
    expect(isUnavailable(await errorOf(failing))).toBe(true);
  });

  test('chosen as the victim of a deadlock is run again', async () => {
    await pool.query(`insert into items values ('a'), ('b')`);
    const bothHoldOne = barrier(2);
    const oneCommitted: PromiseWithResolvers<void> = Promise.withResolvers();
    let attempts = 0;
    const lockInOrder = async (first: string, second: string) => {
      await transaction(pool, async (tx) => {
        attempts += 1;
        // A victim that returns immediately could overtake the other's wake-up and cause the same deadlock again.
        if (attempts > 2) await oneCommitted.promise;
        await tx.query('update items set stock = stock + 1 where name = $1', [first]);
        await bothHoldOne();
        // The server checks for a deadlock after a statement has waited this long. The lock timeout must be longer.
        await tx.query(`set local lock_timeout = '30s'`);
        await tx.query('update items set stock = stock + 1 where name = $1', [second]);
      });
      oneCommitted.resolve();
    };
    await Promise.all([lockInOrder('a', 'b'), lockInOrder('b', 'a')]);
    expect(attempts).toBe(3);
    const { rows } = await pool.query<{ stock: number }>('select stock from items');
    expect(rows).toEqual([{ stock: 2 }, { stock: 2 }]);
  });

  test('that can never be serialized fails after three attempts', async () => {
    let attempts = 0;
    const failing = transaction(pool, async (tx) => {
      attempts += 1;
      await tx.query(`do $$ begin raise exception using errcode = '40001', message = 'conflict'; end $$`);
    });
    expect(isUnavailable(await errorOf(failing))).toBe(true);
    expect(attempts).toBe(3);
  });

  test('with a hook that throws is still committed, and its other hooks run', async () => {
    let hooked = false;
    await transaction(pool, async (tx) => {
      tx.afterCommit(() => {
        throw new Error('this hook fails on purpose');
      });
      tx.afterCommit(() => void (hooked = true));
      await tx.query(`insert into items values ('a')`);
    });
    expect(hooked).toBe(true);
    expect(await names()).toEqual(['a']);
  });
});

/** Lets the first `parties` callers through together, and every later one immediately. */
function barrier(parties: number): () => Promise<void> {
  const { promise, resolve }: PromiseWithResolvers<void> = Promise.withResolvers();
  let arrived = 0;
  return () => {
    arrived += 1;
    if (arrived === parties) resolve();
    return promise;
  };
}
