import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Transfer } from '@quittance/chain-reader/chain/transfers.ts';
import { hashOf } from '@quittance/testkit/chain/samples.ts';
import type { Pool, Queryable } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { testDatabase, type TestDatabase, testPool } from '@quittance/testkit/database.ts';
import { migrations, schema } from '../src/migrations.ts';
import { markRead, moveCursor, readTips, takeOver } from '../src/leadership/cursor.sql.ts';
import {
  insertTransfers,
  readTransfersIn,
  retractTransfersAbove,
  type TransferRow,
} from '../src/transfers/transfer.sql.ts';
import { rememberUnfinished } from '../src/watches/payment.sql.ts';
import { watchWallets } from '../src/watches/watch.sql.ts';
import { at, network, start, transferIn, wallet, watchOf } from './store-samples.ts';

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await testDatabase({ schema, migrations });
  pool = testPool({ url: database.url, schema, max: 5 });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});
beforeEach(() => pool.query('truncate cursor, watch, transfer, unfinished_payment'));

const read = (transfers: Transfer[], isLive: boolean) =>
  transaction(pool, (tx) => insertTransfers(tx, { id: network, decimals: 6 }, transfers, { isLive: () => isLive }));
const retract = () => transaction(pool, (tx) => retractTransfersAbove(tx, network, 6));
const watch = () =>
  transaction(pool, (tx) => watchWallets(tx, [watchOf({ watchedFrom: at(0), watchedUntil: at(10_000) })]));

describe('the first reading of a transfer', () => {
  beforeEach(watch);

  test('is the earliest, in whatever block and way it is read again', async () => {
    const [first] = await read([transferIn(7)], true);
    const reading = { first_seen_at: first!.first_seen_at, live: true };
    expect(await retract()).toMatchObject([{ ...reading, phase: 'retracted' }]);
    expect(await read([transferIn(8)], false)).toMatchObject([reading]);
    await retract();
    expect(await read([transferIn(7)], false)).toMatchObject([{ ...reading, version: 5 }]);
    expect((await pool.query('select first_seen_at, live from transfer')).rows).toEqual([reading, reading]);
  });

  test('does not become live later, even if an earlier release stored one for each block', async () => {
    const fromEarlierRelease = async (block: number, seenAt: Date) => {
      await read([transferIn(block)], false);
      await pool.query('update transfer set first_seen_at = $2 where block_number = $1', [block, seenAt]);
      await retract();
    };
    await fromEarlierRelease(7, at(20));
    await fromEarlierRelease(8, at(30));
    expect(await read([transferIn(8)], true)).toMatchObject([{ first_seen_at: at(20), live: false }]);
  });
});

describe('transfers in windows', () => {
  beforeEach(watch);

  const window = (from: number, to: number, amountUnits: bigint | null = null) => ({
    ...{ recipient: wallet, amountUnits, from: at(from).toISOString(), to: at(to).toISOString() },
  });
  const find = (
    windows: ReturnType<typeof window>[],
    { limit = 10, after, db = pool }: { limit?: number; after?: TransferRow | undefined; db?: Queryable } = {},
  ) =>
    readTransfersIn(db, network, windows, {
      ...{ reachSeconds: 150, limit },
      ...(after && { after: { ...after, block_number: Number(after.block_number) } }),
    });

  test('are found page by page, each once, and only with the amount if one is given', async () => {
    const all = Array.from({ length: 25 }, (_, index) =>
      transferIn(7 + (index % 5), {
        transactionId: String(index).padStart(64, '0'),
        amountUnits: index === 13 ? 2n : 1n,
      }),
    );
    await read(all, false);
    const windows = [window(0, 100, 1n)];
    const found: TransferRow[] = [];
    for (let last: TransferRow | undefined, pages = 0; pages < 5; pages += 1) {
      const page = await find(windows, { after: last });
      found.push(...page);
      last = page.at(-1) ?? last;
    }
    expect(found).toHaveLength(24);
    expect(found).toEqual(await find(windows, { limit: 100 }));
  });

  test('are found once in overlapping windows, and no longer once they are retracted', async () => {
    await read([transferIn(7)], false);
    expect(await find([window(0, 8), window(7, 100)])).toHaveLength(1);
    await retract();
    expect(await find([window(0, 8)])).toEqual([]);
  });

  /** Whether a transfer in block 200 is found that was first read at `seenAt`, if that was live. */
  async function isFound(seenAt: number | null, from: number, to: number): Promise<boolean[]> {
    await read([transferIn(200)], seenAt !== null);
    if (seenAt !== null) await pool.query('update transfer set first_seen_at = $1', [at(seenAt)]);
    const found = [await find([window(from, to)]), await find([window(from, to, 2n ** 255n)])];
    await pool.query('truncate transfer');
    return found.map(({ length }) => length === 1);
  }

  test.each([
    ['in the second of its block', null, 200, 201, true],
    ['whose end is that second', null, 100, 200, false],
    ['that begins as much later as a clock may lag where nothing is known', null, 215, 300, true],
    ['that begins within the last second of that', null, 215.9, 300, true],
    ['that begins later than that', null, 216, 300, false],
    ['that begins before a lagging block was read', 248, 240, 300, true],
    ['that begins after it was read', 248, 249, 300, false],
    ['that ends before the time of a block from the future, and after it was read', 150, 100, 190, true],
    ['that ends when such a block was read', 150, 100, 150, false],
    ['that begins after the time of such a block', 150, 201, 300, false],
    ['150 s after the time of a block that was read late', 900, 350, 400, true],
    ['more than 150 s after the time of such a block', 900, 351, 400, false],
    ['less than 150 s before the time of a block that was read early', 20, 10, 51, true],
    ['150 s before the time of such a block', 20, 10, 50, false],
  ])('are those that may have been made in it: a window %s', async (_, seenAt, from, to, expected) => {
    expect(await isFound(seenAt, from, to)).toEqual([expected, expected]);
  });

  test('are found by an index, however many others the wallet has', async () => {
    await pool.query(
      `insert into transfer (network, transaction_id, transaction_event_index, block_hash, block_number, block_timestamp,
         merchant_id, sender, recipient, amount_units, phase, version)
       select $1, lpad(to_hex(n), 64, '0'), 0, decode(lpad(to_hex(n), 64, '0'), 'hex'), n, to_timestamp($2::float8 + n), 'mer',
         decode($3, 'hex'), decode($3, 'hex'), 1, 'confirmed', 1 from generate_series(1, 30000) as n`,
      [network, start, wallet.slice(2)],
    );
    await pool.query('analyze transfer');
    const plans: string[] = [];
    const explaining = {
      query: async (text: string, values: unknown[]) => {
        const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`explain ${text}`, values);
        plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
        return { rows: [] };
      },
    } as unknown as Queryable;
    for (const amountUnits of [null, 1n]) await find([window(20_000, 20_100, amountUnits)], { db: explaining });
    expect(plans).toHaveLength(2);
    for (const plan of plans) expect(plan).toMatch(/Index Cond: .*block_timestamp >= .*block_timestamp </);
  });
});

describe('tips', () => {
  const pauses = { poll_interval_ms: 1_000, asleep_poll_interval_ms: 60_000 };
  const tips = async (...ids: string[]) =>
    (
      await readTips(
        pool,
        ids.map((id) => ({ id, ...pauses })),
      )
    ).tips;

  async function scanned(id: string, height: number): Promise<bigint> {
    const { epoch } = await takeOver(pool, id);
    const tip = { number: height, hash: hashOf(height), timestamp: start };
    const final = { number: height - 2, timestamp: start };
    await transaction(pool, (tx) =>
      moveCursor(tx, {
        ...{ network: id, epoch, tip, head: height, finalized: height - 2, hasNamedFinal: false, final },
        largeFinal: null,
      }),
    );
    return epoch;
  }

  test('are returned for the requested networks, except those that were never scanned', async () => {
    await scanned('one', 7);
    await scanned('another', 70);
    await takeOver(pool, 'not begun');
    expect(await tips('one', 'not begun', 'unknown')).toEqual([
      { network: 'one', height: 7, final_height: 5, large_final_height: null, unreadable: false },
    ]);
    expect(await tips('not begun')).toEqual([]);
  });

  test('come with the time of the database', async () => {
    const before = await pool.query<{ now: Date }>('select clock_timestamp() as now');
    const { clock } = await readTips(pool, []);
    const after = await pool.query<{ now: Date }>('select clock_timestamp() as now');
    expect(clock.getTime()).toBeGreaterThanOrEqual(before.rows[0]!.now.getTime());
    expect(clock.getTime()).toBeLessThanOrEqual(after.rows[0]!.now.getTime());
  });

  test.each([
    ['a look a moment ago', 0, 3_600, false],
    ['a look 50 s ago', 50, 3_600, false],
    ['a look 70 s ago, while somebody has waited for longer', 70, 75, true],
    ['a look 70 s ago, and somebody who waits since a moment: it slept', 70, 1, false],
    ['a look 70 s ago, while nobody waits', 70, null, false],
    ['a look 130 s ago: one that sleeps is looked at once a minute', 130, null, true],
  ])('say whether a network is read: after %s', async (_, readAgo, createdAgo, unreadable) => {
    const epoch = await scanned(network, 7);
    await markRead(pool, network, epoch);
    await pool.query('update cursor set read_at = read_at - make_interval(secs => $1)', [readAgo]);
    const createdAt = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();
    if (createdAgo !== null)
      await transaction(pool, (tx) =>
        rememberUnfinished(tx, [{ payment_id: 'pay', network, created_at: createdAt(createdAgo) }]),
      );
    expect(await tips(network)).toMatchObject([{ unreadable }]);
  });

  test('say that a halted network is not read, and ignore a leader that was replaced', async () => {
    const epoch = await scanned(network, 7);
    await pool.query(`update cursor set read_at = now() - interval '1 hour'`);
    await takeOver(pool, network);
    await markRead(pool, network, epoch);
    expect(await tips(network)).toMatchObject([{ unreadable: true }]);
    await markRead(pool, network, epoch + 1n);
    expect(await tips(network)).toMatchObject([{ unreadable: false }]);
    await pool.query(`update cursor set halted_at = now(), halt_reason = 'a fork'`);
    expect(await tips(network)).toMatchObject([{ unreadable: true }]);
  });

  test('count the last commit as a look until a look has ended', async () => {
    await scanned(network, 7);
    expect(await tips(network)).toMatchObject([{ unreadable: false }]);
    await pool.query(`update cursor set updated_at = now() - interval '1 hour'`);
    expect(await tips(network)).toMatchObject([{ unreadable: true }]);
  });
});
