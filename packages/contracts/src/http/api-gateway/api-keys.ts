import { nameSchema, textSchema } from '../../author.ts';
import { defineCall, json, object } from '../../call.ts';

/** A key may do everything, or only read. */
export const apiKeyScopes = ['all', 'read'] as const;

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
  { access: 'viewer' },
);

/**
 * The key is refused from now on. 404 when no working key has the name; 409 for the first key, which can only be
 * replaced.
 */
export const RevokeApiKey = defineCall('api-gateway', 'POST /merchants/:merchant_id/api-keys/revoke', json<ApiKey>(), {
  authored: true,
  access: 'admin',
  // An earlier release allowed names without a visible character.
  body: object<{ name: string }>({ name: textSchema(NAME_MAX) }),
});
