import { RenewNoticesKey } from '@quittance/contracts/http/webhook-dispatcher/endpoint.ts';
import type { ServiceClient } from '@quittance/http/client/client.ts';
import { readAnswer } from '@quittance/http/client/request.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import type { KeyVault } from '@quittance/runtime/key-vault.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { SigningKeys } from '@quittance/sdk';
import { findKey, saveKey } from '../settings/settings.sql.ts';

/** A merchant's key is renewed at most this often. Between two retries of an event there is as much time. */
const PAUSE_MS = 5_000;
/** Merchants that are remembered for the pause. */
const MAX_REMEMBERED = 10_000;

type Parts = { pool: Pool; vault: KeyVault; dispatcher: ServiceClient; logger: Logger };

/**
 * The signing key of a merchant's webhooks. A merchant may also replace it through the API, and this process then does not
 * know the new one. So for a delivery with another key it asks webhook-dispatcher for a new key, which is given only while
 * that other key is really in use at this endpoint. The delivery is refused, and its retry has a known key.
 */
export function createSigningKeys({ pool, vault, dispatcher, logger }: Parts) {
  const renewals = new Map<string, number>();

  async function renew(merchantId: string, replaces: string): Promise<void> {
    const last = renewals.get(merchantId);
    if (last !== undefined && performance.now() - last < PAUSE_MS) return;
    renewals.delete(merchantId);
    renewals.set(merchantId, performance.now());
    const [oldest] = renewals.keys();
    if (renewals.size > MAX_REMEMBERED && oldest !== undefined) renewals.delete(oldest);
    const answer = await dispatcher.send(RenewNoticesKey, { params: { merchant_id: merchantId }, body: { replaces } });
    if (answer.status !== 200) return;
    const { key_id: keyId, signing_key: signingKey } = readAnswer(RenewNoticesKey, answer);
    await transaction(pool, (tx) => saveKey(tx, merchantId, keyId, vault.seal(keyId, signingKey)));
    logger.info({ merchant_id: merchantId, key_id: keyId }, 'the signing key of webhooks was renewed');
  }

  /**
   * @param used the id of the key with which a request is signed, as the request says.
   * @returns null for a merchant that has not chosen notices.
   */
  return async (merchantId: string, used: string): Promise<SigningKeys | null> => {
    const key = await findKey(pool, merchantId);
    if (key === null) return null;
    const { key_id: keyId, ...sealed } = key;
    if (used !== keyId) await renew(merchantId, used);
    return { [keyId]: vault.open(keyId, sealed) };
  };
}
