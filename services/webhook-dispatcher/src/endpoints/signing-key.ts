import { newId, newWebhookKey } from '@quittance/contracts/ids.ts';
import type { KeyVault } from '@quittance/runtime/key-vault.ts';
import type { NewKey } from './endpoint.sql.ts';

/** A new signing key, as it is shown and as it is stored. */
export function newSigningKey(vault: KeyVault): { signingKey: string; offeredKey: NewKey } {
  const keyId = newId('whk');
  const signingKey = newWebhookKey();
  return { signingKey, offeredKey: { keyId, ...vault.seal(keyId, signingKey) } };
}
