import type { WebhookSettings } from '@quittance/contracts/webhook.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { WithDates } from '@quittance/runtime/time.ts';
import { byMerchant, insertAudit } from './audit.ts';
import { lockLanes, makeLanesDueNow, probeLaneNow, restartGiveUp } from './lane.ts';
import { insertKey, type NewKey } from './signing-key.ts';

type EndpointRow = WithDates<WebhookSettings, 'created_at' | 'updated_at'>;

/** @returns null before the merchant's first PUT. */
export async function findEndpoint(db: Queryable, merchantId: string): Promise<EndpointRow | null> {
  const { rows } = await db.query<EndpointRow>(
    `select url, active_key_id as key_id, created_at, updated_at from endpoint where merchant_id = $1`,
    [merchantId],
  );
  return rows[0] ?? null;
}

/**
 * Sets the URL. The same one again leaves the lane alone. Another one has an open circuit probed, but only the receiver's own success
 * closes it: otherwise a merchant could have a dead receiver attempted at full rate by alternating between two URLs. Of any number of first calls at once exactly one brings its key into use; the others keep that one.
 * @returns the key in use, and whether it is the one offered.
 */
export async function saveEndpoint(
  tx: Transaction,
  endpoint: { merchantId: string; url: string; host: string; offeredKey: NewKey },
): Promise<{ keyId: string; configuredAt: Date; isNew: boolean }> {
  const { merchantId, url, host, offeredKey } = endpoint;
  const { rows } = await tx.query<{ active_key_id: string; created_at: Date; is_changed: boolean | null }>(
    `insert into endpoint (merchant_id, url, host, active_key_id) values ($1, $2, $3, $4)
     on conflict (merchant_id) do update
        set url = excluded.url, host = excluded.host, version = endpoint.version + 1, updated_at = clock_timestamp()
     returning active_key_id, created_at, old.url <> new.url as is_changed`,
    [merchantId, url, host, offeredKey.keyId],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('an upsert returned no row');
  const isNew = row.active_key_id === offeredKey.keyId;
  if (isNew) await insertKey(tx, merchantId, offeredKey);
  const action = isNew ? 'endpoint_configured' : 'endpoint_changed';
  await insertAudit(tx, { merchantId, eventId: null, action, ...byMerchant });
  // An event may have come before the endpoint did, and a lane without an endpoint is not claimed.
  if (isNew) await makeLanesDueNow(tx, [merchantId]);
  else if (row.is_changed) {
    await lockLanes(tx, [merchantId]);
    await probeLaneNow(tx, merchantId);
    await restartGiveUp(tx, merchantId);
  }
  return { keyId: row.active_key_id, configuredAt: row.created_at, isNew };
}

/**
 * Brings another signing key into use; every attempt claimed from the commit on is signed with it.
 * @returns false when there is no endpoint yet.
 */
export async function replaceKey(tx: Transaction, merchantId: string, key: NewKey): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update endpoint set active_key_id = $2, version = version + 1, updated_at = clock_timestamp() where merchant_id = $1`,
    [merchantId, key.keyId],
  );
  if (rowCount !== 1) return false;
  await tx.query(
    `update signing_key set retired_at = clock_timestamp(), secret_encrypted = null, encryption_key_id = null
      where merchant_id = $1 and retired_at is null`,
    [merchantId],
  );
  await insertKey(tx, merchantId, key);
  await insertAudit(tx, { merchantId, eventId: null, action: 'key_rotated', ...byMerchant });
  await lockLanes(tx, [merchantId]);
  // A receiver that refused signatures of the old key may accept those of the new one.
  await probeLaneNow(tx, merchantId);
  return true;
}
