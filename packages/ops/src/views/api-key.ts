import type { ApiKey, NewApiKey } from '@quittance/contracts/http/api-gateway/api-keys.ts';
import { record, table } from '../text.ts';

export const newApiKeyView = (key: NewApiKey): string =>
  record({ merchant: key.merchant_id, name: key.name, scope: key.scope, 'API key': key.api_key });

export const apiKeyView = (key: ApiKey): string =>
  record({ name: key.name, scope: key.scope, created: key.created_at, revoked: key.revoked_at });

export const apiKeysView = ({ keys }: { keys: readonly ApiKey[] }): string =>
  table(keys, { name: 'name', scope: 'scope', created: 'created_at', revoked: 'revoked_at' });
