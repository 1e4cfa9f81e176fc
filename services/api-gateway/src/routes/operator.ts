import { isId, newId, newSecret, sha256 } from '@quittance/contracts/ids.ts';
import { MerchantRegistered } from '@quittance/contracts/messages/merchant-registered.ts';
import { MerchantStatusChanged } from '@quittance/contracts/messages/merchant-status-changed.ts';
import { invalid } from '@quittance/http/errors.ts';
import { queryTimestamp } from '@quittance/http/server/query-timestamp.ts';
import { pathParameter, route, type Reply, type Route, type RouteRequest } from '@quittance/http/server/route.ts';
import type { Outbox } from '@quittance/messaging/outbox/outbox.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { merchantNotFound } from '../responses/errors.ts';
import { insertAudit, readAudit, type AuditRow } from '../store/audit.ts';
import {
  changeStatus,
  findMerchant,
  insertMerchant,
  listMerchants,
  replaceCredentials,
  type Merchant,
  type MerchantStatus,
} from '../store/merchant.ts';
import { readAuthor, readRegistration } from '../validation/operator-bodies.ts';

type Dependencies = {
  db: Queryable;
  outbox: Outbox;
  inTransaction: <T>(run: (tx: Transaction) => Promise<T>) => Promise<T>;
};

const LIST_MAX = 100;

/** For the operator behind the internal token. Every change is audited and published in its own transaction. */
export const operatorRoutes = (dependencies: Dependencies): Route[] => [
  route({
    method: 'POST',
    path: '/internal/v1/merchants',
    handle: (request) => register(dependencies, request),
  }),
  route({
    method: 'GET',
    path: '/internal/v1/merchants',
    handle: (request) => list(dependencies.db, request),
  }),
  route({
    method: 'GET',
    path: '/internal/v1/merchants/:merchant_id',
    handle: async (request) => ({
      status: 200,
      body: toRecord(await existing(dependencies.db, merchantIdOf(request))),
    }),
  }),
  route({
    method: 'GET',
    path: '/internal/v1/merchants/:merchant_id/audit',
    handle: (request) => audit(dependencies.db, request),
  }),
  route({
    method: 'POST',
    path: '/internal/v1/merchants/:merchant_id/block',
    handle: (request) => setStatus(dependencies, request, 'blocked'),
  }),
  route({
    method: 'POST',
    path: '/internal/v1/merchants/:merchant_id/unblock',
    handle: (request) => setStatus(dependencies, request, 'active'),
  }),
  route({
    method: 'POST',
    path: '/internal/v1/merchants/:merchant_id/replace-credentials',
    handle: (request) => replace(dependencies, request),
  }),
];

/** The response is the only place where these credentials are seen: only their hashes are stored. */
async function register({ inTransaction, outbox }: Dependencies, request: RouteRequest): Promise<Reply> {
  const { registration, author } = await readRegistration(request);
  const merchantId = newId('mer');
  const { credentials, hashes } = newCredentials();
  await inTransaction(async (tx) => {
    const registeredAt = await insertMerchant(tx, { merchantId, name: registration.name, ...hashes });
    // Its limits are the first version of its policy, which quota audits.
    const after = { name: registration.name, status: 'active', status_version: 1 };
    await insertAudit(tx, { merchantId, action: 'register', author, change: { before: null, after } });
    const payload = { merchant_id: merchantId, ...registration, registered_at: rfc3339(registeredAt) };
    await outbox.send(tx, MerchantRegistered, payload);
  });
  return { status: 201, body: { merchant_id: merchantId, ...credentials } };
}

/** Blocking a blocked merchant changes nothing and answers the same 200. */
async function setStatus(
  { inTransaction, outbox }: Dependencies,
  request: RouteRequest,
  status: MerchantStatus,
): Promise<Reply> {
  const merchantId = merchantIdOf(request);
  const author = await readAuthor(request);
  const merchant = await inTransaction(async (tx) => {
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
    return existing(tx, merchantId);
  });
  return { status: 200, body: toRecord(merchant) };
}

async function replace({ inTransaction }: Dependencies, request: RouteRequest): Promise<Reply> {
  const merchantId = merchantIdOf(request);
  const author = await readAuthor(request);
  const { credentials, hashes } = newCredentials();
  await inTransaction(async (tx) => {
    const change = await replaceCredentials(tx, merchantId, hashes);
    if (change === null) throw merchantNotFound();
    await insertAudit(tx, { merchantId, action: 'replace_credentials', author, change });
  });
  return { status: 200, body: { merchant_id: merchantId, ...credentials } };
}

/** `before` is the last id of the page before. */
async function list(db: Queryable, { query }: RouteRequest): Promise<Reply> {
  const before = query.get('before');
  if (before !== null && !isId('mer', before)) throw invalid({ field: 'before', reason: 'must be a merchant id' });
  const merchants = await listMerchants(db, before, LIST_MAX);
  return { status: 200, body: { merchants: merchants.map(toRecord) } };
}

/** The newest hundred entries; `before`, a timestamp, pages to older ones. */
async function audit(db: Queryable, request: RouteRequest): Promise<Reply> {
  const before = queryTimestamp(request.query, 'before');
  const { merchant_id: merchantId } = await existing(db, merchantIdOf(request));
  const entries = await readAudit(db, merchantId, before, LIST_MAX);
  return { status: 200, body: { entries: entries.map(toEntry) } };
}

function newCredentials() {
  const credentials = { api_key: newSecret('qk'), rotation_secret: newSecret('qr') };
  return {
    credentials,
    hashes: { keyHash: sha256(credentials.api_key), secretHash: sha256(credentials.rotation_secret) },
  };
}

/** @throws HttpError 404 for a malformed id. */
function merchantIdOf({ params }: RouteRequest): string {
  const merchantId = pathParameter(params, 'merchant_id');
  if (!isId('mer', merchantId)) throw merchantNotFound();
  return merchantId;
}

async function existing(db: Queryable, merchantId: string): Promise<Merchant> {
  const merchant = await findMerchant(db, merchantId);
  if (merchant === null) throw merchantNotFound();
  return merchant;
}

const toRecord = ({ created_at: createdAt, last_request_at: lastRequestAt, ...merchant }: Merchant) => ({
  ...merchant,
  created_at: rfc3339(createdAt),
  last_request_at: lastRequestAt === null ? null : rfc3339(lastRequestAt),
});

const toEntry = ({ at, ...entry }: AuditRow) => ({ at: rfc3339(at), ...entry });
