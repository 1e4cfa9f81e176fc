import type { WebhookChoice, WebhookSettings } from '@quittance/contracts/webhook.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { WithDates } from '@quittance/runtime/time.ts';
import { byMerchant, insertAudit } from './audit.ts';
import { lanesOf, lockLanes, makeLanesDueNow, probeLanesNow, restartGiveUp } from './lane.ts';
import { insertKey, type NewKey, type SealedSecret } from './signing-key.ts';

type EndpointRow = WithDates<WebhookSettings, 'created_at' | 'updated_at'> & { version: number };

/** `isOtherChoice`: another one than before, which was PAID alone where there was no endpoint. */
type SavedEndpoint = {
  keyId: string;
  configuredAt: Date;
  isNew: boolean;
  events: WebhookChoice[];
  version: number;
  isOtherChoice: boolean;
};

type SavedRow = {
  active_key_id: string;
  created_at: Date;
  events: WebhookChoice[];
  version: number;
  is_changed: boolean | null;
  is_other_choice: boolean;
};

/** @returns null before the merchant's first PUT. */
export async function findEndpoint(db: Queryable, merchantId: string): Promise<EndpointRow | null> {
  const { rows } = await db.query<EndpointRow>(
    `select url, active_key_id as key_id, events, version, created_at, updated_at from endpoint where merchant_id = $1`,
    [merchantId],
  );
  return rows[0] ?? null;
}

/** The endpoint as an attempt outside the queue needs it, with its sealed key. @returns null before the merchant's first PUT. */
export async function findTarget(
  db: Queryable,
  merchantId: string,
): Promise<({ url: string; key_id: string } & SealedSecret) | null> {
  const { rows } = await db.query<{ url: string; key_id: string } & SealedSecret>(
    `select e.url, k.key_id, k.secret_encrypted, k.encryption_key_id
       from endpoint e join signing_key k on k.key_id = e.active_key_id where e.merchant_id = $1`,
    [merchantId],
  );
  return rows[0] ?? null;
}

/** An open circuit of the merchant's is probed: its receiver has just answered a test. */
export async function probeEndpoint(tx: Transaction, merchantId: string): Promise<void> {
  await lockLanes(tx, lanesOf(merchantId));
  await probeLanesNow(tx, lanesOf(merchantId));
}

type NewEndpoint = {
  merchantId: string;
  url: string;
  host: string;
  /** `address:port` of the private target that the host stands for, for the audit; absent for a public host. */
  privateTarget?: string | undefined;
  events?: WebhookChoice[] | undefined;
  offeredKey: NewKey;
};

/**
 * Sets the URL, and what the merchant chose to be told if that is given. The same one again leaves the lane alone. Another one has an open circuit probed, but only the receiver's own success
 * closes it: otherwise a merchant could have a dead receiver attempted at full rate by alternating between two URLs. Of any number of first calls at once exactly one brings its key into use; the others keep that one.
 * @returns the key in use and whether it is the one offered, and the choice, the version it belongs to and whether it is another one than before.
 */
export async function saveEndpoint(tx: Transaction, endpoint: NewEndpoint): Promise<SavedEndpoint> {
  const { merchantId, url, host, privateTarget, events, offeredKey } = endpoint;
  const { rows } = await tx.query<SavedRow>(
    `insert into endpoint (merchant_id, url, host, active_key_id, events) values ($1, $2, $3, $4, coalesce($5::text[], '{PAID}'))
     on conflict (merchant_id) do update
        set url = excluded.url, host = excluded.host, events = coalesce($5::text[], endpoint.events),
            version = endpoint.version + 1, updated_at = clock_timestamp()
     returning active_key_id, created_at, events, version, old.url <> new.url as is_changed,
               coalesce(old.events, '{PAID}') <> new.events as is_other_choice`,
    [merchantId, url, host, offeredKey.keyId, events ?? null],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('an upsert returned no row');
  const isNew = row.active_key_id === offeredKey.keyId;
  if (isNew) await insertKey(tx, merchantId, offeredKey);
  const action = isNew ? 'endpoint_configured' : 'endpoint_changed';
  await insertAudit(tx, { merchantId, eventId: null, action, events: row.events, privateTarget, ...byMerchant });
  // An event may have come before the endpoint did, and a lane without an endpoint is not claimed.
  if (isNew) await makeLanesDueNow(tx, [merchantId]);
  else if (row.is_changed) {
    const lanes = lanesOf(merchantId);
    await lockLanes(tx, lanes);
    await probeLanesNow(tx, lanes);
    await restartGiveUp(tx, lanes);
  }
  return {
    keyId: row.active_key_id,
    configuredAt: row.created_at,
    isNew,
    events: row.events,
    version: row.version,
    isOtherChoice: row.is_other_choice,
  };
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
  // A receiver that refused signatures of the old key may accept those of the new one.
  await probeEndpoint(tx, merchantId);
  return true;
}
