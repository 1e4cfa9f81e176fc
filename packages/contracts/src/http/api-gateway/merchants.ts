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

/** An account as an operator sees it. Credentials are not part of it: only their hashes exist. */
export type Merchant = {
  merchant_id: string;
  name: string;
  /** What customers see; null where the merchant has not said. */
  display_name: string | null;
  status: MerchantStatus;
  status_version: number;
  created_at: string;
  last_request_at: string | null;
  /** Null where it is the contract's. */
  creations_per_minute: number | null;
};

/** The only time they are seen. */
export type Credentials = { merchant_id: string; api_key: string; rotation_secret: string };

/**
 * What replacing does not end: API keys beside the first one, and logins of the merchant's people. Whoever had the old credentials may have
 * any of these as well; each is ended by itself. Absent in answers of older releases.
 */
export type ReplacedCredentials = Credentials & {
  still_working?: {
    api_keys: Pick<ApiKey, 'name' | 'scope' | 'created_at'>[];
    logins: Pick<MerchantLogin, 'name' | 'created_at' | 'last_used_at'>[];
  };
};

/** A standard beta needs no numbers; a legacy account keeps its previous total, so that one must be given. */
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

/** The newest hundred, those before the last one of a page if it is given, and with this text in one of their names. */
export const ListMerchants = defineCall('api-gateway', 'GET /merchants', json<{ merchants: Merchant[] }>(), {
  access: 'viewer',
  query: { before: query.id('mer', 'a merchant'), name: query.text },
});

export const ReadMerchant = defineCall('api-gateway', 'GET /merchants/:merchant_id', json<Merchant>(), {
  access: 'viewer',
});

export const ReadMerchantAudit = auditCall('api-gateway', json<{ entries: AuditEntry[] }>());

/** Changes of an account by an operator. 404 for an unknown merchant; blocking a blocked one changes nothing. */
const change = <const Action extends string, T>(access: OperatorRole, action: Action, response: Json<T>) =>
  defineCall('api-gateway', `POST /merchants/:merchant_id/${action}`, response, { authored: true, access });

export const BlockMerchant = change('support', 'block', json<Merchant>());
export const UnblockMerchant = change('support', 'unblock', json<Merchant>());
/** Creations a minute of one merchant: what the contract promises, and the most that support can make of it. */
export const CREATIONS_PER_MINUTE = 30;
export const CREATIONS_PER_MINUTE_MAX = 600;

/** Never below what the contract promises; null goes back to that. It holds for the next request. */
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
/** Account and history stay, and what `still_working` lists. */
export const ReplaceCredentials = change('admin', 'replace-credentials', json<ReplacedCredentials>());
