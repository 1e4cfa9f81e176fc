import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { type Loop, type LoopContext, startLoop } from '@quittance/runtime/loop.ts';
import type { KeyVault } from '../endpoints/key-vault.ts';
import { countForeignKeys, RESEAL_BATCH, resealKeys } from '../store/signing-key.ts';

/** A process that has not got the new encryption key yet may seal with the old one until it is restarted. */
const INTERVAL_MS = 10_000;

/**
 * Seals signing keys of the previous encryption key with the new one, while there is a previous one. The replicas share the rows. A key
 * that does not open is damaged: it delays no other, and the gauge shows it.
 */
export function startResealLoop({ pool, vault, logger, metrics }: LoopContext & { pool: Pool; vault: KeyVault }): Loop {
  const left = metrics.gauge(
    'webhook_keys_to_reseal',
    'Signing keys in use that another encryption key than WEBHOOK_ENCRYPTION_KEY sealed',
  );
  const isReplacing = vault.openedKeyIds.length > 1;
  // Without a previous key the process has only started because there are none.
  left.set(0);
  const run = async () => {
    if (!isReplacing) return { more: false };
    const { resealed, unopened } = await transaction(pool, (tx) => resealKeys(tx, vault));
    const count = await countForeignKeys(pool, [vault.encryptionKeyId]);
    left.set(count);
    if (resealed > 0) logger.info({ resealed, left: count }, 'signing keys were sealed with the new encryption key');
    if (unopened.length > 0) logger.error({ key_ids: unopened }, 'signing keys cannot be opened with the previous one');
    return { more: resealed === RESEAL_BATCH };
  };
  return startLoop({ name: 'reseal', intervalMs: INTERVAL_MS, logger, metrics, run });
}
