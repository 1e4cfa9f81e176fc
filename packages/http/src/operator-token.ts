import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { isId } from '@quittance/contracts/ids.ts';
import { operatorRoles } from '@quittance/contracts/operator.ts';
import { isMerchantPerson, type Principal } from '@quittance/contracts/principal.ts';

/** The last token of somebody who was disabled lapses after this, so that no service has to ask about each request. */
export const OPERATOR_TOKEN_SECONDS = 300;

/** What the requests of an operator, or of a merchant's person, carry on `/internal/` routes. */
export const OPERATOR_TOKEN_HEADER = 'x-operator-token';

/** A token of an earlier release may lack what this one knows. */
type Claims = Pick<Principal, 'name' | 'role'> & { merchant_id?: string; expires_at: number };

/**
 * Says who somebody is, in a form that every service can check by itself: the claims and their HMAC, both in base64url.
 * @param internalToken from which the key is derived. A token is worth nothing once the internal token has been replaced.
 */
export function issueOperatorToken(internalToken: string, principal: Principal, now: Date = new Date()): string {
  const { name, role } = principal;
  const merchant = isMerchantPerson(principal) && { merchant_id: principal.merchant_id };
  const expires_at = Math.floor(now.getTime() / 1000) + OPERATOR_TOKEN_SECONDS;
  const claims: Claims = { name, role, ...merchant, expires_at };
  const text = Buffer.from(JSON.stringify(claims)).toString('base64url');
  return `${text}.${mac(internalToken, text).toString('base64url')}`;
}

/**
 * @param internalTokens the one in use, and the one that is being replaced or comes.
 * @returns null for a text that none of them signed, or that has lapsed.
 */
export function readOperatorToken(
  internalTokens: readonly string[],
  token: string,
  now: Date = new Date(),
): Principal | null {
  const [text = '', signature = '', ...more] = token.split('.');
  const given = Buffer.from(signature, 'base64url');
  const isSigned = internalTokens.map((key) => given.length === 32 && timingSafeEqual(given, mac(key, text)));
  if (more.length > 0 || !isSigned.includes(true)) return null;
  const { name, role, merchant_id, expires_at } = JSON.parse(Buffer.from(text, 'base64url').toString()) as Claims;
  if (expires_at * 1000 <= now.getTime()) return null;
  if (role !== 'merchant') return operatorRoles.includes(role) ? { name, role } : null;
  return merchant_id !== undefined && isId('mer', merchant_id) ? { name, role, merchant_id } : null;
}

const mac = (internalToken: string, text: string): Buffer =>
  createHmac('sha256', keyOf(internalToken)).update(text).digest();

const keys = new Map<string, Buffer>();

/** A key of its own, so that nothing else that may be signed with the internal token passes for this. */
function keyOf(internalToken: string): Buffer {
  const key = keys.get(internalToken) ?? Buffer.from(hkdfSync('sha256', internalToken, '', 'operator token v1', 32));
  keys.set(internalToken, key);
  return key;
}
