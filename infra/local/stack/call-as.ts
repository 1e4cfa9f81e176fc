import { OPS, type Caller, type CallOwner } from '@quittance/contracts/service-name.ts';
import { createCallerHeaders } from '@quittance/http/call-token.ts';
import { signerOfKey } from '@quittance/runtime/trust.ts';

/** Signing keys as in stack.json, and the token that services of release 0.2.0 expect in addition. */
export type SigningKeys = { signing_keys: { [caller in Caller]?: string }; internal_token?: string };

/** Headers for a call to a service of the stack, as another service or as `ops`. They are valid for two minutes. */
export function callAs(
  { signing_keys: keys, internal_token: token }: SigningKeys,
  service: CallOwner,
  caller: Caller = OPS,
): Record<string, string> {
  const { [caller]: key } = keys;
  if (key === undefined) throw new Error(`there is no signing key of ${caller}`);
  const sharedTokens = token === undefined ? [] : [token];
  return createCallerHeaders(caller, { signer: signerOfKey(key), sharedTokens })(service);
}
