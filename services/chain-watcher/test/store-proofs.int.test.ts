import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Transfer } from '@quittance/chain-reader/chain/transfers.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { testDatabase, testPool, type TestDatabase } from '@quittance/testkit/database.ts';
import { migrations, schema } from '../src/migrations.ts';
import { insertProofs, readProofs } from '../src/transfers/proof.sql.ts';
import { confirmAgreed, insertTransfers, readAwaitingCrossCheck } from '../src/transfers/transfer.sql.ts';
import { watchWallets } from '../src/watches/watch.sql.ts';
import { at, network, transferIn, watchOf } from './store-samples.ts';

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
beforeEach(async () => {
  await pool.query('truncate watch, transfer, transfer_proof');
  const watch = watchOf({ watchedFrom: at(0), watchedUntil: at(10_000), aloneUnits: null });
  await transaction(pool, (tx) => watchWallets(tx, [watch]));
});

const proof = {
  endpoint: 1,
  index: 4,
  header: Buffer.from('f90101', 'hex'),
  nodes: [Buffer.from('aabb', 'hex'), Buffer.from('00ff', 'hex')],
};
const proven = (changes: Partial<Transfer> = {}): Transfer => transferIn(7, { proof, ...changes });

const store = (...transfers: Transfer[]) =>
  transaction(pool, async (tx) => {
    const rows = await insertTransfers(tx, { id: network, decimals: 8 }, transfers);
    await insertProofs(tx, network, transfers);
    return rows;
  });
const confirm = (rows: Awaited<ReturnType<typeof store>>, agreedBy = 2) =>
  transaction(pool, (tx) => confirmAgreed(tx, network, rows, agreedBy));
const proofsOf = (...transfers: Transfer[]) =>
  readProofs(
    pool,
    network,
    transfers.map((one) => ({
      transaction_id: one.transactionId,
      transaction_event_index: one.transactionEventIndex,
    })),
  );

test('a proof is kept byte for byte, with the number of endpoints that agreed', async () => {
  const transfer = proven();
  expect(await confirm(await store(transfer))).toMatchObject([{ phase: 'confirmed', version: 2 }]);
  expect(await proofsOf(transfer)).toEqual([
    {
      transaction_id: transfer.transactionId,
      transaction_event_index: transfer.transactionEventIndex,
      block_number: 7n,
      block_hash: transfer.blockHash.slice(2),
      block_timestamp: new Date(transfer.blockTimestamp * 1000),
      agreed_by: 2,
      transaction_index: 4,
      header: proof.header,
      nodes: proof.nodes,
    },
  ]);
});

test('two events of a transaction share a proof, and a transfer without one has none', async () => {
  const [first, second] = [proven(), proven({ transactionEventIndex: 1 })];
  const { proof: _, ...bare } = proven({ transactionEventIndex: 2, transactionId: 'f'.repeat(64) });
  await confirm(await store(first, second, bare));
  const found = await proofsOf(first, second, bare);
  expect(found.map(({ nodes }) => nodes?.length ?? null).sort()).toEqual([2, 2, null]);
  expect((await pool.query('select from transfer_proof')).rowCount).toBe(1);
});

test('a transfer that is not confirmed, or is in another block by now, has no proof', async () => {
  const transfer = proven();
  const [row] = await store(transfer);
  expect(await proofsOf(transfer)).toEqual([]);
  await pool.query(`update transfer set phase = 'retracted'`);
  await confirm(
    await store(proven({ blockNumber: 8, blockHash: `0x${'8'.repeat(64)}`, proof: { ...proof, index: 5 } })),
  );
  expect(await proofsOf(transfer)).toMatchObject([{ block_number: 8n, transaction_index: 5 }]);
  expect(await confirm([row!])).toEqual([]);
});

test('of a very large receipt, only its place is kept', async () => {
  const large = proven({ proof: { ...proof, nodes: [Buffer.alloc(65_537)] } });
  await confirm(await store(large));
  expect(await proofsOf(large)).toMatchObject([{ transaction_index: 4, nodes: null }]);
});

test('a block that another endpoint shows again counts as shown by that one', async () => {
  const policy = { id: network, finalizedAbove: null, crossCheckedAbove: 0n };
  const heights = { finalHeight: 7, largeFinalHeight: 7 };
  const waiting = () => readAwaitingCrossCheck(pool, policy, heights, { offset: 0, limit: 10 });
  await store(proven());
  expect(await waiting()).toMatchObject([{ endpoint: 1, transaction_index: 4 }]);
  await transaction(pool, (tx) => insertProofs(tx, network, [proven({ proof: { ...proof, endpoint: 0 } })]));
  expect(await waiting()).toMatchObject([{ endpoint: 0 }]);
});
