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
} from '@quittance/contracts/http/api-gateway/api-keys.ts';
import { newSecret, sha256 } from '@quittance/contracts/ids.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { withTextTimes } from '@quittance/runtime/time.ts';
import { merchantNotFound } from '../responses/errors.ts';
import { addApiKey, listApiKeys, revokeApiKey } from '../store/api-key.ts';
import { insertAudit } from '../store/audit.ts';
import { existingMerchant, merchantIdOf } from './existing-merchant.ts';

type Dependencies = {
  db: Queryable;
  inTransaction: <T>(run: (tx: Transaction) => Promise<T>) => Promise<T>;
};

/** Of keys that were revoked long ago, the audit tells. */
const LIST_MAX = 100 + API_KEYS_MAX;

/** The API keys of a merchant, for the operator behind the internal token. */
export const operatorApiKeyRoutes = ({ db, inTransaction }: Dependencies): Route[] => [
  callRoute(AddApiKey, (request) => add(inTransaction, merchantIdOf(request), request)),
  callRoute(ListApiKeys, async (request) => {
    const { merchant_id: merchantId } = await existingMerchant(db, merchantIdOf(request));
    return { merchant_id: merchantId, keys: (await listApiKeys(db, merchantId, LIST_MAX)).map(withTextTimes) };
  }),
  callRoute(RevokeApiKey, (request) => revoke(inTransaction, merchantIdOf(request), request)),
];

async function add(
  inTransaction: Dependencies['inTransaction'],
  merchantId: string,
  { body: { name, scope }, author }: { body: { name: string; scope: ApiKeyScope }; author: Author },
): Promise<NewApiKey> {
  const apiKey = newSecret('qk');
  await inTransaction(async (tx) => {
    const outcome = await addApiKey(tx, { merchantId, name, scope, keyHash: sha256(apiKey) });
    if (outcome === 'unknown_merchant') throw merchantNotFound();
    if (outcome === 'name_taken') throw new HttpError(409, `A key with the name ${name} works already`);
    if (outcome === 'too_many')
      throw new HttpError(409, `A merchant has at most ${API_KEYS_MAX} keys: revoke one first`);
    await insertAudit(tx, {
      merchantId,
      action: 'add_api_key',
      author,
      change: { before: null, after: { name, scope } },
    });
  });
  return { merchant_id: merchantId, name, scope, api_key: apiKey };
}

async function revoke(
  inTransaction: Dependencies['inTransaction'],
  merchantId: string,
  { body: { name }, author }: { body: { name: string }; author: Author },
): Promise<ApiKey> {
  if (name === FIRST_KEY) {
    throw new HttpError(409, 'The first key is replaced and not revoked: rotate it, or replace the credentials');
  }
  const revoked = await inTransaction(async (tx) => {
    await existingMerchant(tx, merchantId);
    const key = await revokeApiKey(tx, merchantId, name);
    if (key === null) throw new HttpError(404, 'No key with this name works');
    const { scope } = key;
    await insertAudit(tx, {
      merchantId,
      action: 'revoke_api_key',
      author,
      change: { before: { name, scope }, after: {} },
    });
    return key;
  });
  return withTextTimes(revoked);
}
