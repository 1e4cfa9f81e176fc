import { OPS, type Caller, type ServiceName } from '@quittance/contracts/service-name.ts';
import { createCallerHeaders } from '@quittance/http/call-token.ts';
import { signerOfKey } from '@quittance/runtime/trust.ts';

/** Signing keys, as stack.json has them, and the token that is shown beside them to services of release 0.2.0. */
export type SigningKeys = { signing_keys: { [caller in Caller]?: string }; internal_token?: string };

/** The headers of a call to a service of the stack, made by another one or by `ops`; they are good for two minutes. */
export function callAs(
  { signing_keys: keys, internal_token: token }: SigningKeys,
  service: ServiceName,
  caller: Caller = OPS,
): Record<string, string> {
  const { [caller]: key } = keys;
  if (key === undefined) throw new Error(`there is no signing key of ${caller}`);
  const sharedTokens = token === undefined ? [] : [token];
  return createCallerHeaders(caller, { signer: signerOfKey(key), sharedTokens })(service);
}
