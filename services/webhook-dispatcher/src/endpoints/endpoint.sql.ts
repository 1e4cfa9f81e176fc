import type { WebhookChoice, WebhookSettings } from '@quittance/contracts/webhook.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { firstRow } from '@quittance/postgres/rows.ts';
import type { SealedTable } from '@quittance/postgres/sealed-keys.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { SealedSecret } from '@quittance/runtime/key-vault.ts';
import type { WithDates } from '@quittance/runtime/time.ts';
import { byMerchant, insertAudit, type AuditedAuthor } from './audit.sql.ts';
import { lanesOf, lockLanes, makeLanesDueNow, probeLanesNow, restartGiveUp } from '../lanes/lane.sql.ts';

type EndpointRow = WithDates<WebhookSettings, 'created_at' | 'updated_at'> & { version: number };

/** `is_other_choice`: the choice differs from the one before. Without an endpoint that was PAID alone. */
type SavedEndpoint = { active_key_id: string; created_at: Date; events: WebhookChoice[]; version: number } & {
  is_other_choice: boolean;
};

/** @returns null before the merchant's first PUT. */
export async function findEndpoint(
  db: Queryable,
  merchantId: string,
  lock: '' | 'for update' = '',
): Promise<EndpointRow | null> {
  const { rows } = await db.query<EndpointRow>(
    `select url, active_key_id as key_id, events, version, created_at, updated_at from endpoint where merchant_id = $1 ${lock}`,
    [merchantId],
  );
  return rows[0] ?? null;
}

/** The endpoint with its sealed key, for an attempt outside the queue. @returns null before the merchant's first PUT. */
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

/** Probes a merchant's open circuits. */
export async function probeEndpoint(tx: Transaction, merchantId: string): Promise<void> {
  await lockLanes(tx, lanesOf(merchantId));
  await probeLanesNow(tx, lanesOf(merchantId));
}

type NewEndpoint = {
  merchantId: string;
  url: string;
  host: string;
  /** `address:port` of the host's private target, for the audit log; absent for a public host. */
  privateTarget?: string | undefined;
  events?: WebhookChoice[] | undefined;
  offeredKey: NewKey;
  /** The merchant, with its API key, by default. */
  author?: AuditedAuthor;
};

/**
 * Sets the URL, and the choice of events if it is given. The same URL again does not touch the lanes. A new URL probes an open circuit, but
 * only a success closes it: otherwise a merchant could have a dead receiver attempted at full rate by switching between two URLs. Of several
 * concurrent first calls exactly one has its key used; the others get that key.
 * @returns the key in use, whether it is the offered one, and the choice with its version.
 */
export async function saveEndpoint(
  tx: Transaction,
  endpoint: NewEndpoint,
): Promise<SavedEndpoint & { isNew: boolean }> {
  const { merchantId, privateTarget, offeredKey, author = byMerchant } = endpoint;
  const row = (await insertEndpoint(tx, endpoint)) ?? (await changeEndpoint(tx, endpoint));
  const isNew = row.active_key_id === offeredKey.keyId;
  if (isNew) await insertKey(tx, merchantId, offeredKey);
  const action = isNew ? 'endpoint_configured' : 'endpoint_changed';
  await insertAudit(tx, { merchantId, eventId: null, action, events: row.events, privateTarget, ...author });
  // Events may be older than the endpoint, and a lane without an endpoint is not claimed.
  if (isNew) await makeLanesDueNow(tx, [merchantId]);
  else if (row.is_changed) {
    const lanes = lanesOf(merchantId);
    await lockLanes(tx, lanes);
    await probeLanesNow(tx, lanes);
    await restartGiveUp(tx, lanes);
  }
  return { ...row, isNew };
}

type StoredEndpoint = SavedEndpoint & { is_changed: boolean };

/** @returns null if there is one. Waits for another first call. */
async function insertEndpoint(
  tx: Transaction,
  { merchantId, url, host, events, offeredKey }: NewEndpoint,
): Promise<StoredEndpoint | null> {
  const { rows } = await tx.query<StoredEndpoint>(
    `insert into endpoint (merchant_id, url, host, active_key_id, events) values ($1, $2, $3, $4, coalesce($5::text[], '{PAID}'))
     on conflict (merchant_id) do nothing
     returning active_key_id, created_at, events, version, false as is_changed, events <> '{PAID}' as is_other_choice`,
    [merchantId, url, host, offeredKey.keyId, events ?? null],
  );
  return rows[0] ?? null;
}

/** Locks the row before the change, so that it is compared with the one that it replaces. */
async function changeEndpoint(
  tx: Transaction,
  { merchantId, url, host, events }: NewEndpoint,
): Promise<StoredEndpoint> {
  const before = await tx.query<{ url: string; events: WebhookChoice[] }>(
    'select url, events from endpoint where merchant_id = $1 for update',
    [merchantId],
  );
  const old = firstRow(before.rows);
  const { rows } = await tx.query<StoredEndpoint>(
    `update endpoint
        set url = $2, host = $3, events = coalesce($4::text[], events), version = version + 1, updated_at = clock_timestamp()
      where merchant_id = $1
     returning active_key_id, created_at, events, version, $5 <> url as is_changed, $6::text[] <> events as is_other_choice`,
    [merchantId, url, host, events ?? null, old.url, old.events],
  );
  return firstRow(rows);
}

/**
 * Replaces the signing key. Each attempt that is claimed after the commit is signed with the new one.
 * @returns false if there is no endpoint yet.
 */
export async function replaceKey(
  tx: Transaction,
  merchantId: string,
  key: NewKey,
  author: AuditedAuthor = byMerchant,
): Promise<boolean> {
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
  await insertAudit(tx, { merchantId, eventId: null, action: 'key_rotated', ...author });
  // A receiver that refused the old key's signatures may accept the new one's.
  await probeEndpoint(tx, merchantId);
  return true;
}

/** A new signing key, which is only used if the merchant has none. */
export type NewKey = SealedSecret & { keyId: string };

async function insertKey(tx: Transaction, merchantId: string, key: NewKey): Promise<void> {
  await tx.query(
    `insert into signing_key (key_id, merchant_id, secret_encrypted, encryption_key_id) values ($1, $2, $3, $4)`,
    [key.keyId, merchantId, key.secret_encrypted, key.encryption_key_id],
  );
}

/** Signing keys in use; a retired one has no secret any more. */
export const signingKeys: SealedTable = {
  table: 'signing_key',
  id: 'key_id',
  secret: 'secret_encrypted',
  where: 'retired_at is null',
};
