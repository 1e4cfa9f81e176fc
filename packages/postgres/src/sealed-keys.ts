import type { KeyVault, SealedSecret } from '@quittance/runtime/key-vault.ts';
import { type Loop, type LoopContext, startLoop } from '@quittance/runtime/loop.ts';
import type { Pool, Queryable } from './pool.ts';
import { transaction, type Transaction } from './transaction.ts';

/** A table whose rows have a secret that a vault sealed, and the `encryption_key_id` that sealed it. All are SQL. */
export type SealedTable = {
  table: string;
  /** The unique text that the vault was given as id. */
  id: string;
  /** The column of the sealed secret. */
  secret: string;
  /** The rows that have one. */
  where: string;
};

/** One transaction holds its row locks while it seals this many: some milliseconds. */
export const RESEAL_BATCH = 200;

/** Counts the rows that none of these encryption keys opens. */
export async function countForeignKeys(
  db: Queryable,
  { table, where }: SealedTable,
  encryptionKeyIds: readonly string[],
): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int as count from ${table} where ${where} and encryption_key_id <> all($1)`,
    [encryptionKeyIds],
  );
  return rows[0]?.count ?? 0;
}

/**
 * Seals a batch of secrets with the new encryption key. The secrets themselves do not change, so processes with both
 * encryption keys are not affected. Rows that are just being changed are skipped.
 * @returns how many were sealed, at most RESEAL_BATCH, and which ones do not open.
 */
export async function resealKeys(
  tx: Transaction,
  { table, id, secret, where }: SealedTable,
  vault: KeyVault,
): Promise<{ resealed: number; unopened: readonly string[] }> {
  const { rows } = await tx.query<SealedSecret & { id: string }>(
    `select ${id} as id, ${secret} as secret_encrypted, encryption_key_id from ${table}
      where ${where} and encryption_key_id <> $1 and encryption_key_id = any($2)
      limit $3 for update skip locked`,
    [vault.encryptionKeyId, vault.openedKeyIds, RESEAL_BATCH],
  );
  const sealed = rows.map((row) => ({ id: row.id, secret: vault.reseal(row.id, row)?.secret_encrypted ?? null }));
  const resealed = sealed.filter((row) => row.secret !== null);
  await tx.query(
    `update ${table} set ${secret} = resealed.secret, encryption_key_id = $1
       from unnest($2::text[], $3::bytea[]) as resealed (id, secret) where ${id} = resealed.id`,
    [vault.encryptionKeyId, resealed.map((row) => row.id), resealed.map((row) => row.secret)],
  );
  const unopened = sealed.filter((row) => row.secret === null).map((row) => row.id);
  return { resealed: resealed.length, unopened };
}

/** A loop, because a process without the new encryption key seals with the old one until it is restarted. */
const INTERVAL_MS = 10_000;

/**
 * While there is a previous encryption key, seals its secrets with the new one. The replicas share the rows. A secret
 * that does not open is damaged: it does not delay the others, and the gauge counts it.
 * @param keys.what their name in the log.
 * @param keys.gauge name and help of the metric that counts what is left.
 */
export function startResealLoop({
  pool,
  vault,
  keys: { table, what, gauge },
  logger,
  metrics,
}: LoopContext & {
  pool: Pool;
  vault: KeyVault;
  keys: { table: SealedTable; what: string; gauge: readonly [name: string, help: string] };
}): Loop {
  const left = metrics.gauge(...gauge);
  const isReplacing = vault.openedKeyIds.length > 1;
  // Without a previous key there are none, or the process would not have started.
  left.set(0);
  const run = async () => {
    if (!isReplacing) return { more: false };
    const { resealed, unopened } = await transaction(pool, (tx) => resealKeys(tx, table, vault));
    const count = await countForeignKeys(pool, table, [vault.encryptionKeyId]);
    left.set(count);
    if (resealed > 0) logger.info({ resealed, left: count }, `${what} were sealed with the new encryption key`);
    if (unopened.length > 0) logger.error({ key_ids: unopened }, `${what} cannot be opened with the previous one`);
    return { more: resealed === RESEAL_BATCH };
  };
  return startLoop({ name: 'reseal', intervalMs: INTERVAL_MS, logger, metrics, run });
}
