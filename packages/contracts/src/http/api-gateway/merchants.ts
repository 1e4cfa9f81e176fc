import type { AccessType, BetaConditions } from '../../access.ts';
import { nameSchema, textSchema } from '../../author.ts';
import { defineCall, json, object, type Json } from '../../call.ts';
import { fields } from '../../messages.ts';
import type { OperatorRole } from '../../principal.ts';
import { query } from '../../query.ts';
import { auditCall, type AuditEntry } from '../audit.ts';
import type { MerchantLogin } from './people.ts';
import { betaSchemas } from '../quota.ts';

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
export const MERCHANT_NAME_MAX = 200;

export type Registration = BetaConditions & { name: string; access_type: AccessType };

export const RegisterMerchant = defineCall('api-gateway', 'POST /merchants', json<Credentials>(), {
  authored: true,
  access: 'admin',
  body: object<Registration>(
    { name: nameSchema(MERCHANT_NAME_MAX), access_type: { enum: fields.accessType.enum }, ...betaSchemas },
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
const change = <const Action extends string, T>(
  access: OperatorRole,
  action: Action,
  response: Json<T>,
  { confirmed = false } = {},
) =>
  defineCall('api-gateway', `POST /merchants/:merchant_id/${action}`, response, { authored: true, access, confirmed });

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
export const ReplaceCredentials = change('admin', 'replace-credentials', json<ReplacedCredentials>(), {
  confirmed: true,
});

/** In code points, after Unicode NFC. */
export const DISPLAY_NAME_MAX = 60;

/** Of the PNG file, and of each of its sides. */
export const LOGO_MAX_BYTES = 32 * 1024;
export const LOGO_MAX_PIXELS = 1024;

export const EMBED_ORIGINS_MAX = 10;

/** What customers see of a merchant on the checkout page. Null where the merchant has not set it. */
export type Profile = {
  /** Shown as the payee. */
  display_name: string | null;
  /** A PNG file, in base64. */
  logo: string | null;
  /** `#rrggbb`, lower case. */
  accent_color: string | null;
  support_url: string | null;
  support_email: string | null;
  /** Sites that may show the page in a frame. */
  embed_origins: string[] | null;
};

/** For operators, who set the name. A merchant sets its own profile through the public API. 404 for an unknown merchant; 422 as there. */
export const SetProfile = defineCall('api-gateway', 'POST /merchants/:merchant_id/profile', json<Profile>(), {
  authored: true,
  access: 'support',
  body: object<Pick<Profile, 'display_name'>>({ display_name: { type: ['string', 'null'] } }),
});

/**
 * What a key may do: everything; `orders`, which creates and cancels payments, reads, and sends events again; or only
 * read.
 */
export const apiKeyScopes = ['all', 'orders', 'read'] as const;

export type ApiKeyScope = (typeof apiKeyScopes)[number];

/** The name of the key that a merchant got at registration. */
export const FIRST_KEY = 'first';

/** The most working keys of one merchant, including the first. */
export const API_KEYS_MAX = 20;

/** A key as an operator sees it. Only its hash is stored. */
export type ApiKey = {
  name: string;
  scope: ApiKeyScope;
  created_at: string;
  /** Null while it works. */
  revoked_at: string | null;
};

/** The only answer that contains the key. */
export type NewApiKey = { merchant_id: string; name: string; scope: ApiKeyScope; api_key: string };

const NAME_MAX = 60;

/** 404 for an unknown merchant; 409 when a working key has the name, or the merchant has the most keys allowed. */
export const AddApiKey = defineCall('api-gateway', 'POST /merchants/:merchant_id/api-keys', json<NewApiKey>(), {
  authored: true,
  access: 'admin',
  forMerchants: 'owner',
  confirmed: true,
  body: object<{ name: string; scope: ApiKeyScope }>({
    name: nameSchema(NAME_MAX),
    scope: { enum: apiKeyScopes },
  }),
  status: 201,
});

/**
 * The working keys, starting with the first key, then the hundred that were revoked last. 404 for an unknown merchant.
 */
export const ListApiKeys = defineCall(
  'api-gateway',
  'GET /merchants/:merchant_id/api-keys',
  json<{ merchant_id: string; keys: ApiKey[] }>(),
  { access: 'viewer', forMerchants: 'owner' },
);

/**
 * The key is refused from now on. 404 when no working key has the name; 409 for the first key, which can only be
 * replaced.
 */
export const RevokeApiKey = defineCall('api-gateway', 'POST /merchants/:merchant_id/api-keys/revoke', json<ApiKey>(), {
  authored: true,
  access: 'admin',
  forMerchants: 'owner',
  confirmed: true,
  // An earlier release allowed names without a visible character.
  body: object<{ name: string }>({ name: textSchema(NAME_MAX) }),
});
