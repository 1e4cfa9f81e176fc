import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { isId } from '@quittance/contracts/ids.ts';
import {
  isMerchantPerson,
  merchantRoles,
  operatorRoles,
  type MerchantRole,
  type Principal,
} from '@quittance/contracts/principal.ts';
import type { ServiceName } from '@quittance/contracts/service-name.ts';
import { isSignedBy, type Trust } from '@quittance/runtime/trust.ts';
import { isInTime } from './call-token.ts';

/**
 * Lifetime of a token. A disabled person's last token expires after this time, so that services don't have to check
 * each request with api-gateway.
 */
export const OPERATOR_TOKEN_SECONDS = 300;

/** Lifetime of a token that confirms a request, which is sent at once. */
const CONFIRMED_TOKEN_SECONDS = 60;

/** Header of requests by an operator, or by a person of a merchant, on `/internal/` routes. */
export const OPERATOR_TOKEN_HEADER = 'x-operator-token';

/** The only service that authenticates people, and whose key signs these tokens. */
const ISSUER: ServiceName = 'api-gateway';
const DOMAIN = 'quittance operator v1.';

/** A token from an earlier release may lack fields. */
type Claims = Pick<Principal, 'name' | 'role' | 'console' | 'confirms'> & {
  merchant_id?: string;
  merchant_role?: MerchantRole;
  expires_at: number;
};

/**
 * Issues a token that says who a person is and that every service can verify by itself: the claims, in base64url, and
 * one or two signatures. The first is an HMAC with the token that all services shared up to release 0.2.0, for services
 * that know no other; it is empty when there is no shared token. The second is by api-gateway's key, and is missing
 * when api-gateway has no key.
 */
export function issueOperatorToken(
  { signer, sharedTokens: [sharedToken] }: Pick<Trust, 'signer' | 'sharedTokens'>,
  principal: Principal,
  now: Date = new Date(),
): string {
  const { name, role, confirms } = principal;
  const merchant = isMerchantPerson(principal) && {
    merchant_id: principal.merchant_id,
    merchant_role: principal.merchant_role,
  };
  const seconds = confirms === undefined ? OPERATOR_TOKEN_SECONDS : CONFIRMED_TOKEN_SECONDS;
  const expires_at = Math.floor(now.getTime() / 1000) + seconds;
  const claims: Claims = { name, role, ...merchant, ...signedIn(principal), expires_at };
  const text = Buffer.from(JSON.stringify(claims)).toString('base64url');
  const shared = sharedToken === undefined ? '' : mac(sharedToken, text).toString('base64url');
  return [text, shared, ...(signer === null ? [] : [signer(DOMAIN + text).toString('base64url')])].join('.');
}

/** @returns null for a text without a trusted signature, for an expired token, and for one with too long a lifetime. */
export function readOperatorToken(
  trust: Pick<Trust, 'publicKeys' | 'sharedTokens'>,
  token: string,
  now: Date = new Date(),
): Principal | null {
  const [text = '', shared = '', signature = '', ...more] = token.split('.');
  if (more.length > 0 || !(isShared(trust, text, shared) || isIssued(trust, text, signature))) return null;
  const claims = JSON.parse(Buffer.from(text, 'base64url').toString()) as Claims;
  const { name, role, merchant_id, merchant_role = 'viewer', expires_at } = claims;
  if (!isInTime(expires_at, OPERATOR_TOKEN_SECONDS, now.getTime())) return null;
  if (role !== 'merchant') return operatorRoles.includes(role) ? { name, role, ...signedIn(claims) } : null;
  if (merchant_id === undefined || !isId('mer', merchant_id) || !merchantRoles.includes(merchant_role)) return null;
  return { name, role, merchant_id, merchant_role, ...signedIn(claims) };
}

/** How the person signed in. Absent fields stay absent. */
const signedIn = ({ console, confirms }: Pick<Principal, 'console' | 'confirms'>) => ({
  ...(console && { console }),
  ...(confirms !== undefined && { confirms }),
});

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

/** A separate key, so that nothing else signed with the shared token is accepted as an operator token. */
function keyOf(sharedToken: string): Buffer {
  const key = keys.get(sharedToken) ?? Buffer.from(hkdfSync('sha256', sharedToken, '', 'operator token v1', 32));
  keys.set(sharedToken, key);
  return key;
}
