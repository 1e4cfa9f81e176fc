import type { Author } from '@quittance/contracts/author.ts';
import {
  AddApiKey,
  API_KEYS_MAX,
  FIRST_KEY,
  ListApiKeys,
  RevokeApiKey,
  type ApiKey,
  type ApiKeyScope,
  type NewApiKey,
} from '@quittance/contracts/http/api-gateway/merchants.ts';
import { newSecret, sha256 } from '@quittance/contracts/ids.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transact } from '@quittance/postgres/transaction.ts';
import { withTextTimes } from '@quittance/runtime/time.ts';
import { inTime, rateLimits, type Admission } from '../limits/admission.ts';
import { assertBelowLimit, rotationSecretHash } from '../limits/merchant-route.ts';
import { insertAudit } from '../merchants/audit.sql.ts';
import { existingMerchant, merchantIdOf, merchantNotFound } from '../merchants/existing-merchant.ts';
import { bodyTooLarge, hasLargeBody } from '../request-body.ts';
import { addApiKey, isRotationSecret, listApiKeys, revokeApiKey, rotateApiKey } from './key.sql.ts';

type Dependencies = { db: Queryable; transact: Transact };

/** The audit log has the keys that were revoked before these. */
const LIST_MAX = 100 + API_KEYS_MAX;

/** A merchant's API keys, as operators manage them. */
export const apiKeyRoutes = ({ db, transact }: Dependencies): Route[] => [
  callRoute(AddApiKey, (request) => add(transact, merchantIdOf(request), request)),
  callRoute(ListApiKeys, async (request) => {
    const { merchant_id } = await existingMerchant(db, merchantIdOf(request));
    return { merchant_id, keys: (await listApiKeys(db, merchant_id, LIST_MAX)).map(withTextTimes) };
  }),
  callRoute(RevokeApiKey, (request) => revoke(transact, merchantIdOf(request), request)),
];

async function add(
  transact: Transact,
  merchantId: string,
  { body: { name, scope }, author }: { body: { name: string; scope: ApiKeyScope }; author: Author },
): Promise<NewApiKey> {
  const apiKey = newSecret('qk');
  await transact(async (tx) => {
    const outcome = await addApiKey(tx, { merchantId, name, scope, keyHash: sha256(apiKey) });
    if (outcome === 'unknown_merchant') throw merchantNotFound();
    if (outcome === 'name_taken') throw new HttpError(409, `A key with the name ${name} works already`);
    if (outcome === 'too_many')
      throw new HttpError(409, `A merchant has at most ${API_KEYS_MAX} keys: revoke one first`);
    const change = { before: null, after: { name, scope } };
    await insertAudit(tx, { merchantId, action: 'add_api_key', author, change });
  });
  return { merchant_id: merchantId, name, scope, api_key: apiKey };
}

async function revoke(
  transact: Transact,
  merchantId: string,
  { body: { name }, author }: { body: { name: string }; author: Author },
): Promise<ApiKey> {
  if (name === FIRST_KEY) {
    throw new HttpError(409, 'The first key is replaced and not revoked: rotate it, or replace the credentials');
  }
  const revoked = await transact(async (tx) => {
    await existingMerchant(tx, merchantId);
    const key = await revokeApiKey(tx, merchantId, name);
    if (key === null) throw new HttpError(404, 'No key with this name works');
    const change = { before: { name, scope: key.scope }, after: {} };
    await insertAudit(tx, { merchantId, action: 'revoke_api_key', author, change });
    return key;
  });
  return withTextTimes(revoked);
}

const invalidRotationSecret = (): HttpError => new HttpError(401, 'Missing or invalid rotation secret');

/** POST /merchant/rotate-key: a merchant replaces its first API key. */
export const rotationRoute = ({ db, transact, admission }: Dependencies & { admission: Admission }): Route => ({
  method: 'POST',
  path: '/api/v1/merchant/rotate-key',
  handle: async (request) => {
    const secretHash = rotationSecretHash(request);
    if (secretHash === null) throw invalidRotationSecret();
    if (await hasLargeBody(request)) {
      const attempt = await admission.count(secretHash.toString('hex'), rateLimits.keyRotation);
      if (await inTime(isRotationSecret(db, secretHash))) throw bodyTooLarge();
      assertBelowLimit(rateLimits.keyRotation, attempt);
      throw invalidRotationSecret();
    }
    const newApiKey = newSecret('qk');
    const { counted, rotated } = await inTime(
      transact((tx) => rotateApiKey(tx, secretHash, sha256(newApiKey), rateLimits.keyRotation)),
    );
    assertBelowLimit(rateLimits.keyRotation, counted);
    if (!rotated) throw invalidRotationSecret();
    return { status: 200, body: { new_api_key: newApiKey } };
  },
});
