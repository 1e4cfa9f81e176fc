import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction, type Transaction } from '@quittance/postgres/transaction.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { createKeyVault } from '@quittance/runtime/key-vault.ts';
import { replaceKey, saveEndpoint } from '../../src/endpoints/endpoint.sql.ts';
import { startStoreWorld, type StoreWorld } from '../store-world.ts';

let store: StoreWorld;
beforeAll(async () => {
  store = await startStoreWorld();
});
afterAll(() => store.stop());

const vault = createKeyVault(randomBytes(32));

function newKey() {
  const keyId = newId('whk');
  return { keyId, ...vault.seal(keyId, 'whsec_new') };
}

const changes: [string, (tx: Transaction, merchantId: string) => Promise<unknown>][] = [
  [
    'new URL',
    (tx, merchantId) => saveEndpoint(tx, { merchantId, url: 'https://new.io/', host: 'new.io', offeredKey: newKey() }),
  ],
  ['rotation', (tx, merchantId) => replaceKey(tx, merchantId, newKey())],
];

test.each(changes)('a %s is not answered during a claim that has not seen it', async (_what, change) => {
  const merchantId = await store.addMerchant();
  await store.addEvent(merchantId);
  const claimer = await store.pool.connect();
  await claimer.query('begin');
  expect(await store.claim({}, claimer as unknown as Pool)).toHaveLength(1);

  /** For as long as this test needs to see it wait. */
  const changePatiently = async (...[tx, id]: Parameters<typeof change>) => {
    await tx.query(`set local statement_timeout = '30s'`);
    return change(tx, id);
  };
  let isAnswered = false;
  const changed = transaction(store.pool, (tx) => changePatiently(tx, merchantId), { lockTimeoutMs: 30_000 }).finally(
    () => (isAnswered = true),
  );
  try {
    await eventually(async () => {
      const { rowCount } = await store.pool.query(
        `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      );
      expect(rowCount).toBe(1);
    });
    expect(isAnswered).toBe(false);
  } finally {
    await claimer.query('commit');
    claimer.release();
  }
  await changed;
});
