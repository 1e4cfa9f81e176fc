import { nameSchema, textSchema } from '../../author.ts';
import { defineCall, json, object } from '../../call.ts';

/** What a key may do: everything, or what only reads. */
export const apiKeyScopes = ['all', 'read'] as const;

export type ApiKeyScope = (typeof apiKeyScopes)[number];

/** The name under which lists show the key that a merchant was registered with. */
export const FIRST_KEY = 'first';

/** How many keys of one merchant work at the same time, the first one included. */
export const API_KEYS_MAX = 20;

/** A key as an operator sees it; of the key itself only its hash exists. */
export type ApiKey = {
  name: string;
  scope: ApiKeyScope;
  created_at: string;
  /** Null while it works. */
  revoked_at: string | null;
};

/** The only time the key is seen. */
export type NewApiKey = { merchant_id: string; name: string; scope: ApiKeyScope; api_key: string };

const NAME_MAX = 60;

/** 404 for an unknown merchant, 409 when a working key has the name, or the merchant has as many as it may. */
export const AddApiKey = defineCall('api-gateway', 'POST /merchants/:merchant_id/api-keys', json<NewApiKey>(), {
  authored: true,
  access: 'admin',
  body: object<{ name: string; scope: ApiKeyScope }>({
    name: nameSchema(NAME_MAX),
    scope: { enum: apiKeyScopes },
  }),
  status: 201,
});

/** The working ones, the first key first, then the hundred that were revoked last. 404 for an unknown merchant. */
export const ListApiKeys = defineCall(
  'api-gateway',
  'GET /merchants/:merchant_id/api-keys',
  json<{ merchant_id: string; keys: ApiKey[] }>(),
  { access: 'viewer' },
);

/** Refused from now on. 404 when no working key has the name, 409 for the first key, which is replaced and not revoked. */
export const RevokeApiKey = defineCall('api-gateway', 'POST /merchants/:merchant_id/api-keys/revoke', json<ApiKey>(), {
  authored: true,
  access: 'admin',
  // Also of one that an earlier release let have a name in which nothing shows.
  body: object<{ name: string }>({ name: textSchema(NAME_MAX) }),
});
