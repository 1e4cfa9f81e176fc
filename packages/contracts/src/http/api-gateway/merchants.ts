import type { AccessType } from '../../access.ts';
import { nameSchema } from '../../author.ts';
import { defineCall, json, object, type Json } from '../../call.ts';
import { fields } from '../../messages/fields.ts';
import type { BetaConditions } from '../../policy-defaults.ts';
import type { OperatorRole } from '../../operator.ts';
import { query } from '../../query.ts';
import { auditCall, type AuditEntry } from '../audit.ts';
import type { ApiKey } from './api-keys.ts';
import type { MerchantLogin } from './merchant-logins.ts';
import { betaSchemas } from '../quota/policy.ts';

export type MerchantStatus = 'active' | 'blocked';

/** An account as an operator sees it. It contains no credentials: only their hashes are stored. */
export type Merchant = {
  merchant_id: string;
  name: string;
  /** The name that customers see; null if the merchant has not set it. */
  display_name: string | null;
  status: MerchantStatus;
  status_version: number;
  created_at: string;
  last_request_at: string | null;
  /** Null for the contract's rate. */
  creations_per_minute: number | null;
};

/** The only answer that contains them. */
export type Credentials = { merchant_id: string; api_key: string; rotation_secret: string };

/**
 * `still_working` lists what replacing doesn't revoke: API keys other than the first, and logins of the merchant's
 * people. Anyone who had the old credentials may have these too; revoke each separately. Absent in answers of older
 * releases.
 */
export type ReplacedCredentials = Credentials & {
  still_working?: {
    api_keys: Pick<ApiKey, 'name' | 'scope' | 'created_at'>[];
    logins: Pick<MerchantLogin, 'name' | 'created_at' | 'last_used_at'>[];
  };
};

/** A standard beta needs no numbers. A legacy account keeps its previous total, so its total must be given. */
export type Registration = BetaConditions & { name: string; access_type: AccessType };

export const RegisterMerchant = defineCall('api-gateway', 'POST /merchants', json<Credentials>(), {
  authored: true,
  access: 'admin',
  body: object<Registration>(
    { name: nameSchema(200), access_type: { enum: fields.accessType.enum }, ...betaSchemas },
    { optional: ['total_limit', 'daily_limit', 'beta_duration_days'] },
  ),
  status: 201,
});

/**
 * The newest hundred merchants. `before` is the last one of the previous page; `name` is a text in one of their names.
 */
export const ListMerchants = defineCall('api-gateway', 'GET /merchants', json<{ merchants: Merchant[] }>(), {
  access: 'viewer',
  query: { before: query.id('mer', 'a merchant'), name: query.text },
});

export const ReadMerchant = defineCall('api-gateway', 'GET /merchants/:merchant_id', json<Merchant>(), {
  access: 'viewer',
});

export const ReadMerchantAudit = auditCall('api-gateway', json<{ entries: AuditEntry[] }>());

/** An operator's change of an account. 404 for an unknown merchant. Blocking a blocked account changes nothing. */
const change = <const Action extends string, T>(access: OperatorRole, action: Action, response: Json<T>) =>
  defineCall('api-gateway', `POST /merchants/:merchant_id/${action}`, response, { authored: true, access });

export const BlockMerchant = change('support', 'block', json<Merchant>());
export const UnblockMerchant = change('support', 'unblock', json<Merchant>());
/** A merchant's creations per minute: what the contract promises, and the most that support can set. */
export const CREATIONS_PER_MINUTE = 30;
export const CREATIONS_PER_MINUTE_MAX = 600;

/** Never below what the contract promises; null restores that. Effective from the next request. */
export const SetCreationRate = defineCall(
  'api-gateway',
  'POST /merchants/:merchant_id/creation-rate',
  json<Merchant>(),
  {
    authored: true,
    access: 'support',
    body: object<{ creations_per_minute: number | null }>({
      creations_per_minute: {
        type: ['integer', 'null'],
        minimum: CREATIONS_PER_MINUTE,
        maximum: CREATIONS_PER_MINUTE_MAX,
      },
    }),
  },
);
/** Keeps the account and its history, and what `still_working` lists. */
export const ReplaceCredentials = change('admin', 'replace-credentials', json<ReplacedCredentials>());
