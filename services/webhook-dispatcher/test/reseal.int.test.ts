import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import { countForeignKeys, RESEAL_BATCH, resealKeys, startResealLoop } from '@quittance/postgres/sealed-keys.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { createKeyVault, type KeyVault, type SealedSecret } from '@quittance/runtime/key-vault.ts';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { replaceKey, saveEndpoint, signingKeys } from '../src/endpoints/endpoint.sql.ts';
import { startStoreWorld, type StoreWorld } from './store-world.ts';

let world: StoreWorld;
beforeAll(async () => {
  world = await startStoreWorld();
});
beforeEach(() => world.empty());
afterAll(() => world.stop());

const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
const before = createKeyVault(oldKey);
const during = createKeyVault(newKey, oldKey);
const after = createKeyVault(newKey);

const reseal = (vault: KeyVault = during) => transaction(world.pool, (tx) => resealKeys(tx, signingKeys, vault));

async function addMerchant(vault: KeyVault = before): Promise<{ merchantId: string; keyId: string }> {
  const [merchantId, keyId] = [newId('mer'), newId('whk')];
  const endpoint = { merchantId, url: 'https://hooks.io/', host: 'hooks.io' };
  const offeredKey = { keyId, ...vault.seal(keyId, `whsec of ${keyId}`) };
  await transaction(world.pool, (tx) => saveEndpoint(tx, { ...endpoint, offeredKey }));
  return { merchantId, keyId };
}

/** One by one, so that none has to wait for a connection of the pool. */
async function addMerchants(count: number) {
  const added = [];
  for (let n = 0; n < count; n += 1) added.push(await addMerchant());
  return added;
}

async function openAll(vault: KeyVault): Promise<string[]> {
  const { rows } = await world.pool.query<SealedSecret & { key_id: string }>(
    'select key_id, secret_encrypted, encryption_key_id from signing_key where retired_at is null',
  );
  return rows.map((row) => {
    expect(vault.open(row.key_id, row)).toBe(`whsec of ${row.key_id}`);
    return row.key_id;
  });
}

describe('replacing the encryption key', () => {
  test('signing keys are sealed again in limited batches until the new key opens all of them', async () => {
    await addMerchants(RESEAL_BATCH + 30);
    expect(() => openAll(during)).not.toThrow();
    expect((await reseal()).resealed).toBe(RESEAL_BATCH);
    expect(await countForeignKeys(world.pool, signingKeys, [during.encryptionKeyId])).toBe(30);
    expect((await reseal()).resealed).toBe(30);
    expect((await reseal()).resealed).toBe(0);
    expect(await openAll(after)).toHaveLength(RESEAL_BATCH + 30);
  });

  test('replicas share the rows, and none seals a row of another', async () => {
    await addMerchants(60);
    const shares = await Promise.all([reseal(), reseal(), reseal()]);
    expect(shares.reduce((sum, { resealed }) => sum + resealed, 0)).toBe(60);
    await openAll(after);
  });

  test('a process that only accepts the next key opens keys sealed with either', async () => {
    const accepting = createKeyVault(oldKey, newKey);
    await addMerchant(before);
    await addMerchant(during);
    expect(await openAll(accepting)).toHaveLength(2);
    expect(await countForeignKeys(world.pool, signingKeys, accepting.openedKeyIds)).toBe(0);
  });

  test('a process without one of the keys in use does not start', async () => {
    await addMerchant();
    expect(await countForeignKeys(world.pool, signingKeys, before.openedKeyIds)).toBe(0);
    expect(await countForeignKeys(world.pool, signingKeys, during.openedKeyIds)).toBe(0);
    expect(await countForeignKeys(world.pool, signingKeys, after.openedKeyIds)).toBeGreaterThan(0);
    await reseal();
    expect(await countForeignKeys(world.pool, signingKeys, after.openedKeyIds)).toBe(0);
    expect(await countForeignKeys(world.pool, signingKeys, before.openedKeyIds)).toBeGreaterThan(0);
  });

  test('a key that a merchant replaced stays without a secret', async () => {
    const { merchantId } = await addMerchant();
    const keyId = newId('whk');
    const key = { keyId, ...before.seal(keyId, `whsec of ${keyId}`) };
    await transaction(world.pool, (tx) => replaceKey(tx, merchantId, key));
    expect((await reseal()).resealed).toBe(1);
    expect(await openAll(after)).toEqual([keyId]);
  });

  test('a key that does not open does not delay others, and is reported', async () => {
    const [damaged] = await addMerchants(3);
    await world.pool.query(`update signing_key set secret_encrypted = secret_encrypted || '\\x00' where key_id = $1`, [
      damaged!.keyId,
    ]);
    expect(await reseal()).toEqual({ resealed: 2, unopened: [damaged!.keyId] });
    expect(await countForeignKeys(world.pool, signingKeys, [during.encryptionKeyId])).toBe(1);
  });

  test('the loop finishes by itself, and its gauge drops to 0', async () => {
    await addMerchants(RESEAL_BATCH + 1);
    const metrics = createMetrics({ service: 'test', processMetrics: false });
    const keys = { table: signingKeys, what: 'signing keys', gauge: ['webhook_keys_to_reseal', 'Left'] } as const;
    const loop = startResealLoop({ pool: world.pool, vault: during, keys, logger: testLogger, metrics });
    try {
      await eventually(async () => {
        expect(await countForeignKeys(world.pool, signingKeys, [during.encryptionKeyId])).toBe(0);
        expect((await metrics.render()).text).toMatch(/^webhook_keys_to_reseal\{.*\} 0$/m);
      });
    } finally {
      await loop.close();
    }
    expect(await openAll(after)).toHaveLength(RESEAL_BATCH + 1);
  });
});
