import { deriveAddresses, parseExtendedKey } from '@quittance/contracts/extended-key.ts';
import type { Network } from '@quittance/contracts/networks.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { KeyVault } from '@quittance/runtime/key-vault.ts';
import { insertStock, lockKey, vaultIdOf } from './key.sql.ts';
import { findPool } from './pool.sql.ts';

/** So many creations share the time of one filling, which derives for some tens of milliseconds. */
const STOCK = 20;

/**
 * The stock of derived addresses of keys: rows of `pool_address` with the index as `place`. A creation deletes the row that it takes, the
 * lowest index first, and calls `fill` when there is none; all in its own transaction, so that an index is given at most once.
 * @param vault null in an installation without a key for it.
 */
export const createStock = ({ vault, networks }: { vault: KeyVault | null; networks: readonly Network[] }) => ({
  /**
   * Derives the next indexes of a key into its stock. The key stays locked until the transaction ends.
   * @throws Error for a source that is not a key, and one that cannot be opened or whose network is switched off.
   */
  async fill(tx: Transaction, sourceId: bigint, count = STOCK): Promise<void> {
    const locked = await lockKey(tx, sourceId);
    if (locked === null) throw new Error(`address source ${sourceId} is not a key`);
    const { network: id, key_sha256: sha256, next_index: from } = locked;
    const network = networks.find((one) => one.id === id);
    if (vault === null || network === undefined) throw new Error(`the key of ${id} cannot be used`);
    const { key } = parseExtendedKey(vault.open(vaultIdOf(sha256, id), locked));
    if (key === null) throw new Error(`address source ${sourceId} does not contain an extended public key`);
    await insertStock(tx, sourceId, { from, addresses: deriveAddresses(key, network.family, { from, count }) });
  },
});

/** Derives more addresses for a pool, if they come from a key. The addresses of a list don't change. */
export const createFillPool =
  (stock: ReturnType<typeof createStock>) =>
  async (tx: Transaction, merchantId: string, name: string): Promise<void> => {
    const pool = await findPool(tx, merchantId, name);
    if (pool?.kind === 'xpub') await stock.fill(tx, pool.source_id);
  };
