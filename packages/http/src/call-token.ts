import type { Caller } from '@quittance/contracts/caller.ts';
import type { ServiceName } from '@quittance/contracts/service-name.ts';
import { isSignedBy, type PublicKeys, type Trust } from '@quittance/runtime/trust.ts';

/** What a process shows with each internal call: a token signed with its own key, for one service and a short time. */
export const CALL_TOKEN_HEADER = 'x-call-token';
/** What all services showed up to release 0.2.0. */
export const SHARED_TOKEN_HEADER = 'x-internal-token';

/** Longest life of a token. */
const LIFE_SECONDS = 120;
/** Clocks of two machines may differ by so much. */
export const CLOCK_SKEW_SECONDS = 30;
/** The same token is shown for so long; with what is left, no clock that is a little ahead refuses it. */
const RENEWED_AFTER_SECONDS = 60;

const DOMAIN = 'quittance call v1.';

type Claims = { caller: Caller; audience: ServiceName; expires_at: number };

/** The headers by which a process shows a service who it is. */
export type ShowCaller = (audience: ServiceName) => Record<string, string>;

/** @param now milliseconds. */
export function createCallerHeaders(
  caller: Caller,
  { signer, sharedTokens: [sharedToken] }: Pick<Trust, 'signer' | 'sharedTokens'>,
  now: () => number = Date.now,
): ShowCaller {
  const kept = new Map<ServiceName, { token: string; renewedAt: number }>();

  function tokenFor(audience: ServiceName): string | null {
    if (signer === null) return null;
    const seconds = Math.floor(now() / 1000);
    const known = kept.get(audience);
    // A clock that was set back would show a token for ever that nobody takes yet.
    if (known !== undefined && Math.abs(known.renewedAt - seconds) < RENEWED_AFTER_SECONDS) return known.token;
    const claims: Claims = { caller, audience, expires_at: seconds + LIFE_SECONDS };
    const text = Buffer.from(JSON.stringify(claims)).toString('base64url');
    const token = `${text}.${signer(DOMAIN + text).toString('base64url')}`;
    kept.set(audience, { token, renewedAt: seconds });
    return token;
  }

  return (audience) => {
    const token = tokenFor(audience);
    return {
      ...(token !== null && { [CALL_TOKEN_HEADER]: token }),
      // A callee of before there were keys knows nothing else.
      ...(sharedToken !== undefined && { [SHARED_TOKEN_HEADER]: sharedToken }),
    };
  };
}

/** Tokens that were found right; the same ones come with each call for a minute. */
const REMEMBERED = 100;

/** @returns what reads the caller from a token: null for one that nobody signed, for another service, or that has lapsed. */
export function createCallTokenReader(
  audience: string,
  publicKeys: PublicKeys,
  now: () => number = Date.now,
): (token: string) => Caller | null {
  const known = new Map<string, Claims>();

  function claimsOf(token: string): Claims | null {
    const remembered = known.get(token);
    if (remembered !== undefined) return remembered;
    const [text = '', signature = '', ...more] = token.split('.');
    const claims = readClaims(text);
    if (claims === null || more.length > 0) return null;
    if (!isSignedBy(publicKeys, claims.caller, DOMAIN + text, Buffer.from(signature, 'base64url'))) return null;
    known.set(token, claims);
    const [oldest] = known.keys();
    if (known.size > REMEMBERED && oldest !== undefined) known.delete(oldest);
    return claims;
  }

  return (token) => {
    const claims = claimsOf(token);
    if (claims === null || claims.audience !== audience || !isInTime(claims.expires_at, LIFE_SECONDS, now()))
      return null;
    return claims.caller;
  };
}

/**
 * @param expiresAt in seconds, as who issued it says: no life that is longer than the longest is believed.
 * @param now in milliseconds.
 */
export function isInTime(expiresAt: number, lifeSeconds: number, now: number): boolean {
  const leftSeconds = expiresAt - now / 1000;
  return leftSeconds > 0 && leftSeconds <= lifeSeconds + CLOCK_SKEW_SECONDS;
}

function readClaims(text: string): Claims | null {
  try {
    const { caller, audience, expires_at } = JSON.parse(Buffer.from(text, 'base64url').toString()) as Claims;
    return typeof caller === 'string' && typeof expires_at === 'number' ? { caller, audience, expires_at } : null;
  } catch {
    return null;
  }
}
