import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { isId } from '@quittance/contracts/ids.ts';
import { operatorRoles } from '@quittance/contracts/operator.ts';
import { isMerchantPerson, type Principal } from '@quittance/contracts/principal.ts';
import type { ServiceName } from '@quittance/contracts/service-name.ts';
import { isSignedBy, type Trust } from '@quittance/runtime/trust.ts';

import { isInTime } from './call-token.ts';

/** The last token of somebody who was disabled lapses after this, so that no service has to ask about each request. */
export const OPERATOR_TOKEN_SECONDS = 300;

/** What the requests of an operator, or of a merchant's person, carry on `/internal/` routes. */
export const OPERATOR_TOKEN_HEADER = 'x-operator-token';

/** The only service that knows who people are, and whose key signs this. */
const ISSUER: ServiceName = 'api-gateway';
const DOMAIN = 'quittance operator v1.';

/** A token of an earlier release may lack what this one knows. */
type Claims = Pick<Principal, 'name' | 'role'> & { merchant_id?: string; expires_at: number };

/**
 * Says who somebody is, in a form that every service can check by itself: the claims, in base64url, and one or two signatures of them.
 * The first is an HMAC by the token that all services shared up to release 0.2.0, for those that know no other yet; it is empty where there
 * is no such token. The second, which is missing where api-gateway has no key, is by that key.
 */
export function issueOperatorToken(
  { signer, sharedTokens: [sharedToken] }: Pick<Trust, 'signer' | 'sharedTokens'>,
  principal: Principal,
  now: Date = new Date(),
): string {
  const { name, role } = principal;
  const merchant = isMerchantPerson(principal) && { merchant_id: principal.merchant_id };
  const expires_at = Math.floor(now.getTime() / 1000) + OPERATOR_TOKEN_SECONDS;
  const claims: Claims = { name, role, ...merchant, expires_at };
  const text = Buffer.from(JSON.stringify(claims)).toString('base64url');
  const shared = sharedToken === undefined ? '' : mac(sharedToken, text).toString('base64url');
  return [text, shared, ...(signer === null ? [] : [signer(DOMAIN + text).toString('base64url')])].join('.');
}

/** @returns null for a text that nobody who is trusted signed, and for one that has lapsed or claims to last longer than any may. */
export function readOperatorToken(
  trust: Pick<Trust, 'publicKeys' | 'sharedTokens'>,
  token: string,
  now: Date = new Date(),
): Principal | null {
  const [text = '', shared = '', signature = '', ...more] = token.split('.');
  if (more.length > 0 || !(isShared(trust, text, shared) || isIssued(trust, text, signature))) return null;
  const { name, role, merchant_id, expires_at } = JSON.parse(Buffer.from(text, 'base64url').toString()) as Claims;
  if (!isInTime(expires_at, OPERATOR_TOKEN_SECONDS, now.getTime())) return null;
  if (role !== 'merchant') return operatorRoles.includes(role) ? { name, role } : null;
  return merchant_id !== undefined && isId('mer', merchant_id) ? { name, role, merchant_id } : null;
}

const isIssued = ({ publicKeys }: Pick<Trust, 'publicKeys'>, text: string, signature: string): boolean =>
  isSignedBy(publicKeys, ISSUER, DOMAIN + text, Buffer.from(signature, 'base64url'));

function isShared({ sharedTokens }: Pick<Trust, 'sharedTokens'>, text: string, signature: string): boolean {
  const given = Buffer.from(signature, 'base64url');
  const matches = sharedTokens.map((key) => given.length === 32 && timingSafeEqual(given, mac(key, text)));
  return matches.includes(true);
}

const mac = (sharedToken: string, text: string): Buffer =>
  createHmac('sha256', keyOf(sharedToken)).update(text).digest();

const keys = new Map<string, Buffer>();

/** A key of its own, so that nothing else that may be signed with the shared token passes for this. */
function keyOf(sharedToken: string): Buffer {
  const key = keys.get(sharedToken) ?? Buffer.from(hkdfSync('sha256', sharedToken, '', 'operator token v1', 32));
  keys.set(sharedToken, key);
  return key;
}
