import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { testDatabase, type TestDatabase, testPool } from '@quittance/testkit/database.ts';
import { migrations, schema } from '../src/migrations.ts';
import { insertBlocks, loadCanonicalBlocks, orphanBlocksAbove, storeScan } from '../src/blocks/block.sql.ts';
import {
  Fenced,
  fence,
  lowerAudited,
  moveAudited,
  moveCursor,
  readCursor,
  takeOver,
} from '../src/leadership/cursor.sql.ts';
import { confirmTransfers, insertTransfers, retractTransfersAbove } from '../src/transfers/transfer.sql.ts';
import {
  advanceBackFills,
  endWatches,
  planWatches,
  readBackFills,
  readNewWatches,
  watchWallets,
  reviveWatchesEndedAfter,
} from '../src/watches/watch.sql.ts';
import type { Transfer } from '@quittance/chain-reader/chain/transfers.ts';
import { addressOf, hashOf } from '@quittance/testkit/chain/samples.ts';
import type { Block } from '@quittance/chain-reader/rpc/answers.ts';
import { at, network, start, transferIn, wallet, watchOf } from './store-samples.ts';

type Thresholds = Record<'finalizedAbove' | 'crossCheckedAbove', bigint | null>;

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
beforeEach(() => pool.query('truncate cursor, block, watch, transfer, incident'));

const token = { id: network, decimals: 8 };
const watch = (watchedFrom: Date, watchedUntil = at(10_000), aloneUnits: bigint | null = null) =>
  transaction(pool, (tx) => watchWallets(tx, [watchOf({ watchedFrom, watchedUntil, aloneUnits })]));
const stateOfWatch = async () => (await pool.query<{ state: string }>('select state from watch')).rows[0]?.state;

const insert = (...transfers: Transfer[]) => transaction(pool, (tx) => insertTransfers(tx, token, transfers));
const everyAmount = { id: network, finalizedAbove: null, crossCheckedAbove: null };
/** Confirms up to block 7, large transfers up to `largeFinalHeight`. @returns the amounts confirmed. */
const confirm = async (policy: Partial<Thresholds> = {}, largeFinalHeight = 7) => {
  const heights = { finalHeight: 7, largeFinalHeight };
  const rows = await transaction(pool, (tx) => confirmTransfers(tx, { ...everyAmount, ...policy }, heights));
  return rows.map((row) => row.amount_units);
};
const retract = (height: number) => transaction(pool, (tx) => retractTransfersAbove(tx, network, height));

describe('transfers', () => {
  beforeEach(() => watch(at(0)));

  test('reading a block again changes nothing, confirmed or not', async () => {
    expect(await insert(transferIn(7))).toHaveLength(1);
    expect(await insert(transferIn(7))).toEqual([]);
    expect(await confirm()).toHaveLength(1);
    expect(await insert(transferIn(7))).toEqual([]);
    expect(await confirm()).toEqual([]);
  });

  test('above the cap are confirmed only in blocks that the chain itself calls final', async () => {
    await insert(
      transferIn(6, { amountUnits: 100n }),
      transferIn(6, { amountUnits: 101n, transactionEventIndex: 1 }),
      transferIn(7, { amountUnits: 101n, transactionEventIndex: 2 }),
    );
    expect(await confirm({ finalizedAbove: 100n }, 5)).toEqual(['100']);
    expect(await confirm({ finalizedAbove: 100n }, 6)).toEqual(['101']);
    expect(await confirm({ finalizedAbove: 100n }, 7)).toEqual(['101']);
  });

  test('that need two endpoints are not confirmed by depth alone', async () => {
    await insert(transferIn(6, { amountUnits: 100n }), transferIn(6, { amountUnits: 101n, transactionEventIndex: 1 }));
    expect(await confirm({ crossCheckedAbove: 100n })).toEqual(['100']);
    expect(await confirm({ crossCheckedAbove: 100n })).toEqual([]);
  });

  test('that are parts of a payment above the cap need what one transfer of its whole amount needs', async () => {
    // 2 USDT, of a token with eight decimals.
    await watch(at(0), at(10_000), 2_000_000n);
    const part = transferIn(6, { amountUnits: 100n });
    const more = transferIn(6, { amountUnits: 300_000_000n, transactionEventIndex: 1 });
    const rows = await transaction(pool, (tx) => insertTransfers(tx, token, [part, more], { isConfirmed: () => true }));
    expect(rows.map(({ phase }) => phase).toSorted()).toEqual(['confirmed', 'seen']);
    expect(await confirm({ finalizedAbove: 199_999_999n }, 5)).toEqual([]);
    expect(await confirm({ crossCheckedAbove: 199_999_999n })).toEqual([]);
    expect(await confirm({ finalizedAbove: 199_999_999n }, 6)).toEqual(['100']);
    // The next payment shares the wallet.
    await watch(at(0));
    await insert(transferIn(6, { amountUnits: 100n, transactionEventIndex: 2 }));
    expect(await confirm({ finalizedAbove: 199_999_999n }, 5)).toEqual(['100']);
  });

  test('an orphaned block that comes back restores its transfer with a higher version', async () => {
    await insert(transferIn(7));
    await retract(6);
    expect(await insert(transferIn(7))).toMatchObject([
      { phase: 'seen', version: 3, amount_units: (2n ** 255n).toString() },
    ]);
  });

  test('the version grows across the blocks that held a transfer', async () => {
    await insert(transferIn(7));
    await retract(6);
    expect(await insert(transferIn(8, { blockHash: hashOf(88) }))).toMatchObject([{ version: 3 }]);
    expect(await retract(6)).toMatchObject([{ version: 4, previous_phase: 'seen', block_number: 8n }]);
  });

  test('that are final when they are stored are confirmed immediately, and their version counts both observations', async () => {
    const late = transferIn(8, { transactionId: 'cd'.repeat(32) });
    const rows = await transaction(pool, (tx) =>
      insertTransfers(tx, token, [late, transferIn(7)], { isConfirmed: ({ blockNumber }) => blockNumber === 7 }),
    );
    expect(rows).toMatchObject([
      { block_number: 7n, phase: 'confirmed', version: 2 },
      { block_number: 8n, phase: 'seen', version: 1 },
    ]);
    expect(await confirm()).toEqual([]);
    await retract(6);
    const again = await transaction(pool, (tx) =>
      insertTransfers(tx, token, [transferIn(7)], { isConfirmed: () => true }),
    );
    expect(again).toMatchObject([{ phase: 'confirmed', version: 5 }]);
  });

  test('of more than one statement are stored together', async () => {
    const many = Array.from({ length: 2_500 }, (_, index) => transferIn(7, { transactionEventIndex: index }));
    expect(await insert(...many)).toHaveLength(2_500);
  });

  test('a transfer cannot count in two blocks at once', async () => {
    await insert(transferIn(7));
    const error: unknown = await insert(transferIn(8)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: '23505', constraint: 'transfer_counted' });
  });

  test('are retracted newest first, and only above the height', async () => {
    await insert(
      transferIn(7),
      transferIn(8, { transactionId: 'cd'.repeat(32) }),
      transferIn(9, { transactionEventIndex: 1 }),
    );
    expect((await retract(7)).map(({ block_number }) => block_number)).toEqual([9n, 8n]);
  });

  test('to a wallet that is not watched are left out', async () => {
    expect(await insert(transferIn(7, { to: addressOf(5) }))).toEqual([]);
  });
});

describe('the fence', () => {
  const position = {
    ...{ network, head: 9, finalized: 1, hasNamedFinal: true, final: null, largeFinal: null },
    tip: sampleBlock(9),
  };

  test('an earlier leader can neither move the cursor nor store anything with it', async () => {
    const { epoch } = await takeOver(pool, network);
    await transaction(pool, (tx) => moveCursor(tx, { ...position, epoch }));
    await takeOver(pool, network);
    await expect(transaction(pool, (tx) => moveCursor(tx, { ...position, epoch }))).rejects.toThrow(Fenced);
    await expect(transaction(pool, (tx) => fence(tx, network, epoch))).rejects.toThrow(Fenced);
  });

  test('the result of a poll is stored completely by the leader, and not at all by an earlier one', async () => {
    await watch(at(0));
    await insert(transferIn(7), transferIn(9, { transactionId: 'cd'.repeat(32) }));
    const store = (epoch: bigint, blocks: ReturnType<typeof sampleBlock>[]) =>
      transaction(pool, (tx) =>
        storeScan(tx, everyAmount, {
          ...{ move: { ...position, epoch }, blocks, heights: { finalHeight: 8, largeFinalHeight: 8 } },
        }),
      );
    const { epoch } = await takeOver(pool, network);
    expect(await store(epoch, [sampleBlock(8), sampleBlock(9)])).toMatchObject([
      { block_number: 7n, phase: 'confirmed' },
    ]);
    expect(await store(epoch, [])).toEqual([]);
    await takeOver(pool, network);
    await pool.query(`update transfer set phase = 'seen'`);
    await expect(store(epoch, [sampleBlock(10)])).rejects.toThrow(Fenced);
    expect(await loadCanonicalBlocks(pool, network)).toHaveLength(2);
    expect((await pool.query(`select from transfer where phase = 'confirmed'`)).rows).toEqual([]);
  });

  test('the next leader finds the state that the last one stored', async () => {
    const { epoch, tip } = await takeOver(pool, network);
    expect(tip).toBeNull();
    const final = { final: { number: 5, timestamp: start }, largeFinal: { number: 3, timestamp: start - 2 } };
    await transaction(pool, (tx) => moveCursor(tx, { ...position, epoch, ...final }));
    const { number, hash, timestamp } = position.tip;
    expect(await takeOver(pool, network)).toMatchObject({
      ...{ epoch: epoch + 1n, tip: { number, hash, timestamp }, head: 9, finalized: 1, hasNamedFinal: true },
      ...final,
    });
  });
});

describe('blocks', () => {
  test('of two branches at one height, only one is canonical, and that may change', async () => {
    const store = (...blocks: ReturnType<typeof sampleBlock>[]) =>
      transaction(pool, (tx) => insertBlocks(tx, network, blocks));
    const canonical = async () => (await loadCanonicalBlocks(pool, network)).map(({ hash }) => hash);
    await store(sampleBlock(1), sampleBlock(2));
    await transaction(pool, (tx) => orphanBlocksAbove(tx, network, 1));
    await store(sampleBlock(2, { hash: hashOf(22) }));
    expect(await canonical()).toEqual([hashOf(1), hashOf(22)]);
    await transaction(pool, (tx) => orphanBlocksAbove(tx, network, 1));
    await store(sampleBlock(2));
    expect(await canonical()).toEqual([hashOf(1), hashOf(2)]);
  });
});

describe('watches', () => {
  const plan = (coveredFrom: Date, backFill: { from: number; to: number } | null) =>
    transaction(pool, (tx) => planWatches(tx, network, [wallet], coveredFrom, backFill));
  const advance = (from: number, through: number, tip: number) =>
    transaction(pool, (tx) => advanceBackFills(tx, network, [wallet], { from, through, tip }));

  test('a back-fill survives a crash at any point and ends at its last block', async () => {
    await watch(at(0));
    await plan(at(0), { from: 10, to: 30 });
    await advance(10, 19, 100);
    expect(await readBackFills(pool, network, { newestFirst: false, limit: 10 })).toEqual([
      { address: wallet, next: 20, to: 30 },
    ]);
    // Later blocks say nothing about those that are to be read next.
    await advance(21, 40, 100);
    await advance(20, 29, 100);
    expect(await readBackFills(pool, network, { newestFirst: false, limit: 10 })).toEqual([
      { address: wallet, next: 30, to: 30 },
    ]);
    await advance(30, 40, 100);
    expect(await stateOfWatch()).toBe('watching');
  });

  test('a back-fill ends where a reorg has cut the chain', async () => {
    await watch(at(0));
    await plan(at(0), { from: 10, to: 30 });
    await advance(10, 25, 25);
    expect(await stateOfWatch()).toBe('watching');
  });

  test('a payment from before the watch makes the leader look again, a later one does not', async () => {
    await watch(at(100));
    await plan(at(100), null);
    await watch(at(200));
    expect(await stateOfWatch()).toBe('watching');
    await watch(at(50));
    expect(await readNewWatches(pool, network, 10)).toEqual([{ address: wallet, watchedFrom: at(50) }]);
  });

  test('a payment from before the watch that comes while the leader plans is not forgotten', async () => {
    await watch(at(100));
    await watch(at(50));
    await plan(at(100), null);
    expect(await stateOfWatch()).toBe('new');
  });

  test('a watch ends by chain time, and a new payment begins another', async () => {
    await watch(at(0), at(500));
    await plan(at(0), null);
    const end = (final: Date) => transaction(pool, (tx) => endWatches(tx, network, final, 10));
    expect(await end(at(500))).toEqual([]);
    expect(await end(at(501))).toEqual([wallet]);
    await watch(at(900), at(2_000));
    expect(await readNewWatches(pool, network, 10)).toEqual([{ address: wallet, watchedFrom: at(900) }]);
  });
});

describe('when blocks are gone', () => {
  test('their replacements are audited again, and audited blocks below them are not', async () => {
    await takeOver(pool, network);
    await transaction(pool, (tx) => moveAudited(tx, network, 20));
    await transaction(pool, (tx) => lowerAudited(tx, network, 25));
    expect((await readCursor(pool, network))?.audited).toBe(20);
    await transaction(pool, (tx) => lowerAudited(tx, network, 15));
    expect((await readCursor(pool, network))?.audited).toBe(15);
  });

  test('wallets whose watching ended with them are watched again, and no others', async () => {
    await watch(at(0), at(50));
    await transaction(pool, (tx) => planWatches(tx, network, [wallet], at(0), null));
    await transaction(pool, (tx) => endWatches(tx, network, at(60), 10));
    const revive = (seconds: number) =>
      transaction(pool, (tx) => reviveWatchesEndedAfter(tx, network, at(seconds).getTime() / 1000));
    expect(await revive(60)).toEqual([]);
    expect(await stateOfWatch()).toBe('ended');
    expect(await revive(59)).toEqual([wallet]);
    expect(await stateOfWatch()).toBe('watching');
  });
});

test('a transfer from before the end of a watch is taken, one from after it is not', async () => {
  await watch(at(0), at(50));
  await transaction(pool, (tx) => planWatches(tx, network, [wallet], at(0), null));
  await transaction(pool, (tx) => endWatches(tx, network, at(60), 10));
  expect(await insert(transferIn(60), transferIn(59, { transactionId: 'cd'.repeat(32) }))).toMatchObject([
    { block_number: 59n },
  ]);
});

function sampleBlock(number: number, changes: Partial<Block> = {}): Block {
  const [hash, parentHash, timestamp] = [hashOf(number), hashOf(number - 1), 1_700_000_000 + number];
  return { number, hash, parentHash, timestamp, logsBloom: hashOf(0), transactions: [], ...changes };
}
