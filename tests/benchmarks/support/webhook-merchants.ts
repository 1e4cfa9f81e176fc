import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { newId, newWebhookKey } from '@quittance/contracts/ids.ts';
import { createKeyVault } from '@quittance/runtime/key-vault.ts';

/** A merchant who gets events, with its own host. */
export type WebhookMerchant = { merchantId: string; host: string; url: string; keyId: string; secret: string };

/** Every host is one label under this domain. One certificate is valid for all of them. */
export const HOSTS = 'merchants.io';

/** The key that encrypts signing keys in this run: base64 for the dispatcher's environment. */
export const ENCRYPTION_KEY = randomBytes(32).toString('base64');

export function makeMerchants(count: number, label = 'm'): WebhookMerchant[] {
  return Array.from({ length: count }, (_, number) => {
    const host = `${label}${number}.${HOSTS}`;
    return {
      ...{ merchantId: newId('mer'), host, url: `https://${host}/webhooks/quittance` },
      ...{ keyId: newId('whk'), secret: newWebhookKey() },
    };
  });
}

/**
 * Endpoints, keys and lanes as after the first PUT; nothing waits.
 * @param db the superuser's, search path webhooks.
 */
export async function insertMerchants(db: pg.Client, merchants: readonly WebhookMerchant[]): Promise<void> {
  const vault = createKeyVault(Buffer.from(ENCRYPTION_KEY, 'base64'));
  const sealed = merchants.map(({ keyId, secret }) => vault.seal(keyId, secret));
  await db.query(
    `with m as (
       select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bytea[])
         as m(merchant_id, url, host, key_id, sealed)
     ), endpoints as (
       insert into endpoint (merchant_id, url, host, active_key_id) select merchant_id, url, host, key_id from m
     ), lanes as (
       insert into lane (merchant_id) select merchant_id from m
     )
     insert into signing_key (key_id, merchant_id, secret_encrypted, encryption_key_id)
     select key_id, merchant_id, sealed, $6 from m`,
    [
      merchants.map(({ merchantId }) => merchantId),
      merchants.map(({ url }) => url),
      merchants.map(({ host }) => host),
      merchants.map(({ keyId }) => keyId),
      sealed.map(({ secret_encrypted }) => secret_encrypted),
      vault.encryptionKeyId,
    ],
  );
}

/**
 * Stores due events, the merchants taking turns, as PaymentPaid would. Lanes are not changed, so no dispatcher claims the events until
 * `release`.
 */
export async function insertEvents(
  db: pg.Client,
  merchants: readonly Pick<WebhookMerchant, 'merchantId'>[],
  count: number,
): Promise<void> {
  await db.query(
    `with made as materialized (
       select 'evt_' || replace(uuidv7()::text, '-', '') as event_id, 'pay_' || replace(uuidv7()::text, '-', '') as payment_id,
              ($1::text[])[1 + n % cardinality($1)] as merchant_id
         from generate_series(0, $2 - 1) n
     ), stored as (
       insert into event (event_id, payment_id, merchant_id, body)
       select event_id, payment_id, merchant_id, convert_to(${bodySql('event_id', 'payment_id')}, 'UTF8') from made
     )
     insert into delivery (event_id, merchant_id, next_attempt_at) select event_id, merchant_id, now() from made`,
    [merchants.map(({ merchantId }) => merchantId), count],
  );
}

/** The lanes' deliveries are due from the commit on. */
export async function release(db: pg.Client, merchants: readonly Pick<WebhookMerchant, 'merchantId'>[]): Promise<void> {
  await db.query('update lane set next_due_at = now() where merchant_id = any($1)', [
    merchants.map(({ merchantId }) => merchantId),
  ]);
}

/** The same bytes as `bodySql`, except for the ids. */
export const bodyOf = (eventId: string, paymentId: string): string =>
  `{"event_id":"${eventId}","payment_id":"${paymentId}",${REST}`;

/** An event's body as SQL text. */
export const bodySql = (eventId: string, paymentId: string): string =>
  `'{"event_id":"' || ${eventId} || '","payment_id":"' || ${paymentId} || '",${REST}'`;

const REST =
  `"status":"PAID","expected_amount":"12.50","transaction_id":"${'c0ffee00'.repeat(8)}",` +
  `"transaction_event_index":3,"description":"Order 12345, two teas"}`;
