import type { Author } from '@quittance/contracts/author.ts';
import {
  API_KEYS_MAX,
  FIRST_KEY,
  BlockMerchant,
  ListMerchants,
  ReadMerchant,
  ReadMerchantAudit,
  RegisterMerchant,
  ReplaceCredentials,
  SetCreationRate,
  UnblockMerchant,
  type Credentials,
  type Merchant,
  type MerchantStatus,
  type Registration,
  type ReplacedCredentials,
} from '@quittance/contracts/http/api-gateway/merchants.ts';
import { LOGINS_MAX } from '@quittance/contracts/http/api-gateway/people.ts';
import { newId, newSecret, sha256 } from '@quittance/contracts/ids.ts';
import { MerchantRegistered, MerchantStatusChanged } from '@quittance/contracts/messages.ts';
import { standardBeta } from '@quittance/contracts/access.ts';
import { invalid, type ValidationItem } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Outbox } from '@quittance/messaging/outbox/outbox.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transact } from '@quittance/postgres/transaction.ts';
import { rfc3339, withTextTimes } from '@quittance/runtime/time.ts';
import { ReadLimits } from '@quittance/contracts/http/payments/gate.ts';
import { listApiKeys } from '../keys/key.sql.ts';
import { insertAudit, readAudit } from './audit.sql.ts';
import { listLogins } from '../operators/login.sql.ts';
import { changeStatus, insertMerchant, listMerchants, replaceCredentials, setCreationRate } from './merchant.sql.ts';
import { existingMerchant, merchantIdOf, merchantNotFound } from './existing-merchant.ts';
import { type Admission, rateLimits } from '../limits/admission.ts';
import { merchantRead } from '../limits/merchant-route.ts';
import { refuseLargeBody } from '../request-body.ts';
import { forward, successBody, type Upstreams } from '../upstreams.ts';

type Dependencies = { db: Queryable; outbox: Outbox; transact: Transact };

/** An operator and the merchant that the call is about. */
type Operation = { params: { merchant_id: string }; author: Author };

const LIST_MAX = 100;

/** Merchants' accounts, as operators manage them. Each change is audited and published in its own transaction. */
export const merchantRoutes = (dependencies: Dependencies): Route[] => {
  const { db } = dependencies;
  return [
    callRoute(RegisterMerchant, (request) => register(dependencies, request)),
    callRoute(ListMerchants, async ({ query: { before, name } }) => ({
      merchants: (await listMerchants(db, { before, name }, LIST_MAX)).map(withTextTimes),
    })),
    callRoute(ReadMerchant, async (request) => withTextTimes(await existingMerchant(db, merchantIdOf(request)))),
    callRoute(ReadMerchantAudit, async (request) => {
      const { merchant_id: merchantId } = await existingMerchant(db, merchantIdOf(request));
      return { entries: (await readAudit(db, merchantId, request.query.before, LIST_MAX)).map(withTextTimes) };
    }),
    callRoute(BlockMerchant, (request) => setStatus(dependencies, request, 'blocked')),
    callRoute(UnblockMerchant, (request) => setStatus(dependencies, request, 'active')),
    callRoute(SetCreationRate, async (request) => {
      const { merchant_id: merchantId } = await existingMerchant(db, merchantIdOf(request));
      await dependencies.transact(async (tx) => {
        const change = await setCreationRate(tx, merchantId, request.body.creations_per_minute);
        if (change !== null)
          await insertAudit(tx, { merchantId, action: 'set_creation_rate', author: request.author, change });
      });
      return withTextTimes(await existingMerchant(db, merchantId));
    }),
    callRoute(ReplaceCredentials, (request) => replace(dependencies, request)),
  ];
};

/** The response is the only place where these credentials are seen: only their hashes are stored. */
async function register(
  { transact, outbox }: Dependencies,
  { body, author }: { body: Registration; author: Author },
): Promise<Credentials> {
  const { name, access_type } = body;
  const limits = limitsOf(body);
  const merchantId = newId('mer');
  const { credentials, hashes } = newCredentials();
  await transact(async (tx) => {
    const registeredAt = await insertMerchant(tx, { merchantId, name, ...hashes });
    // Its limits are the first version of its policy, which quota audits.
    const after = { name, status: 'active', status_version: 1 };
    await insertAudit(tx, { merchantId, action: 'register', author, change: { before: null, after } });
    const payload = { merchant_id: merchantId, name, access_type, ...limits, registered_at: rfc3339(registeredAt) };
    await outbox.send(tx, MerchantRegistered, payload);
  });
  return { merchant_id: merchantId, ...credentials };
}

/** Only its total limits a legacy account. */
const legacy = { total_limit: 0, daily_limit: null, beta_duration_days: null };

/** @throws HttpError 422 for a legacy account without a total, or with an end. */
function limitsOf({ access_type, total_limit, daily_limit, beta_duration_days }: Registration) {
  const isLegacy = access_type === 'legacy';
  const problems: ValidationItem[] = [];
  if (isLegacy && total_limit === undefined) {
    problems.push({ field: 'total_limit', reason: 'is required for legacy access' });
  }
  if (isLegacy && beta_duration_days !== undefined) {
    problems.push({ field: 'beta_duration_days', reason: 'belongs to beta access only' });
  }
  if (problems.length > 0) throw invalid(...problems);
  const defaults = isLegacy ? legacy : standardBeta;
  return {
    total_limit: total_limit ?? defaults.total_limit,
    // An explicit null removes the daily limit.
    daily_limit: daily_limit === undefined ? defaults.daily_limit : daily_limit,
    beta_duration_days: beta_duration_days ?? defaults.beta_duration_days,
  };
}

/** Blocking a blocked merchant changes nothing and answers the same 200. */
async function setStatus(
  { transact, outbox }: Dependencies,
  operation: Operation,
  status: MerchantStatus,
): Promise<Merchant> {
  const [merchantId, { author }] = [merchantIdOf(operation), operation];
  const merchant = await transact(async (tx) => {
    const change = await changeStatus(tx, merchantId, status);
    if (change !== null) {
      await insertAudit(tx, { merchantId, action: status === 'blocked' ? 'block' : 'unblock', author, change });
      await outbox.send(tx, MerchantStatusChanged, {
        merchant_id: merchantId,
        status,
        status_version: change.statusVersion,
        changed_at: rfc3339(change.changedAt),
      });
    }
    return existingMerchant(tx, merchantId);
  });
  return withTextTimes(merchant);
}

async function replace({ transact }: Dependencies, operation: Operation): Promise<ReplacedCredentials> {
  const [merchantId, { author }] = [merchantIdOf(operation), operation];
  const { credentials, hashes } = newCredentials();
  const stillWorking = await transact(async (tx) => {
    const change = await replaceCredentials(tx, merchantId, hashes);
    if (change === null) throw merchantNotFound();
    await insertAudit(tx, { merchantId, action: 'replace_credentials', author, change });
    return readStillWorking(tx, merchantId);
  });
  return { merchant_id: merchantId, ...credentials, still_working: stillWorking };
}

/** The API keys and logins that a replacement of the credentials leaves active. Both lists begin with the active ones. */
async function readStillWorking(
  tx: Queryable,
  merchantId: string,
): Promise<Required<ReplacedCredentials>['still_working']> {
  const keys = await listApiKeys(tx, merchantId, API_KEYS_MAX);
  const logins = await listLogins(tx, merchantId, LOGINS_MAX);
  return {
    api_keys: keys
      .filter(({ name, revoked_at: revokedAt }) => revokedAt === null && name !== FIRST_KEY)
      .map(({ name, scope, created_at }) => withTextTimes({ name, scope, created_at })),
    logins: logins
      .filter(({ disabled_at: disabledAt }) => disabledAt === null)
      .map(({ name, created_at, last_used_at }) => withTextTimes({ name, created_at, last_used_at })),
  };
}

function newCredentials() {
  const credentials = { api_key: newSecret('qk'), rotation_secret: newSecret('qr') };
  return {
    credentials,
    hashes: { keyHash: sha256(credentials.api_key), secretHash: sha256(credentials.rotation_secret) },
  };
}

/** A merchant's own limits. */
export const limitsRoute = ({ admission, upstreams }: { admission: Admission; upstreams: Upstreams }): Route =>
  merchantRead(admission, '/api/v1/merchant/limits', {
    limit: rateLimits.sharedReads,
    read: refuseLargeBody,
    handle: async ({ merchant, previousRequestAt }) => {
      const answer = await upstreams.payments.send(ReadLimits, { params: merchant });
      const limits = successBody(ReadLimits, answer);
      if (limits === null) return forward(answer);
      const lastApiRequestAt = previousRequestAt && rfc3339(previousRequestAt);
      return { status: 200, body: { ...limits, last_api_request_at: lastApiRequestAt } };
    },
  });
