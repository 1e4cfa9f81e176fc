import type { Author } from '@quittance/contracts/author.ts';
import type { MovedKey } from '@quittance/contracts/http/payments/pools.ts';
import type { SealedTable } from '@quittance/postgres/sealed-keys.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { SealedSecret } from '@quittance/runtime/key-vault.ts';

/** Keys of pools, and those of earlier ones. */
export const poolKeys: SealedTable = {
  table: 'address_source',
  id: `encode(key_sha256, 'hex') || '@' || network`,
  secret: 'key_encrypted',
  where: `kind = 'xpub'`,
};

/** The same as in `poolKeys`. */
export const vaultIdOf = (sha256: Buffer, network: string): string => `${sha256.toString('hex')}@${network}`;

export type NewKey = SealedSecret & {
  merchantId: string;
  network: string;
  sha256: Buffer;
  /** 0/0 to 0/2. */
  firstAddresses: readonly string[];
};

/**
 * Stores a key, or finds it with its next index. It is sealed again in any case, so that a merchant can repair what does not open any more.
 * @returns null when another merchant has the key, on any network.
 */
export async function saveKey(tx: Transaction, key: NewKey): Promise<bigint | null> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`pool key ${key.sha256.toString('hex')}`]);
  const { rows } = await tx.query<{ source_id: bigint }>(
    `insert into address_source (merchant_id, network, kind, key_sha256, key_encrypted, encryption_key_id, first_addresses, created_at)
     select $1, $2, 'xpub', $3, $4, $5, $6, clock_timestamp()
      where not exists (select from address_source where key_sha256 = $3 and merchant_id <> $1)
     on conflict (key_sha256, network) do update
        set key_encrypted = excluded.key_encrypted, encryption_key_id = excluded.encryption_key_id
     returning source_id`,
    [key.merchantId, key.network, key.sha256, key.secret_encrypted, key.encryption_key_id, key.firstAddresses],
  );
  return rows[0]?.source_id ?? null;
}

/** A key whose next indexes are being derived. */
type LockedKey = SealedSecret & { network: string; key_sha256: Buffer; next_index: number };

export async function lockKey(tx: Transaction, sourceId: bigint): Promise<LockedKey | null> {
  const { rows } = await tx.query<LockedKey>(
    `select network, key_sha256, key_encrypted as secret_encrypted, encryption_key_id, next_index
       from address_source where source_id = $1 and kind = 'xpub' for update`,
    [sourceId],
  );
  return rows[0] ?? null;
}

/** Puts derived addresses into the stock of a key that is locked, and moves its next index behind them. */
export async function insertStock(
  tx: Transaction,
  sourceId: bigint,
  { from, addresses }: { from: number; addresses: readonly string[] },
): Promise<void> {
  await tx.query(
    `with stocked as (
       insert into pool_address (source_id, address, place)
       select $1, address, $2::integer + position - 1 from unnest($3::text[]) with ordinality as derived (address, position)
     )
     update address_source set next_index = $2::integer + cardinality($3::text[]) where source_id = $1`,
    [sourceId, from, addresses],
  );
}

/**
 * Moves every key on and drops its stock, so that no index that was given before is given again.
 * @returns the keys, in the order of their merchants.
 */
export async function moveKeysOn(tx: Transaction, indexes: number, { actor, reason }: Author): Promise<MovedKey[]> {
  const { rows } = await tx.query<MovedKey>(
    `with moved as (
       update address_source set next_index = next_index + $1 where kind = 'xpub'
       returning source_id, merchant_id, network, next_index - $1 as from_index, next_index as to_index
     ), dropped as (
       delete from pool_address where source_id in (select source_id from moved)
     ), audited as (
       insert into address_source_move (source_id, merchant_id, network, from_index, to_index, actor, reason, moved_at)
       select moved.*, $2, $3, clock_timestamp() from moved
     )
     select merchant_id, network, from_index, to_index from moved order by merchant_id, network, source_id`,
    [indexes, actor, reason],
  );
  return rows;
}
