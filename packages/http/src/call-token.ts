import type { Caller, CallOwner } from '@quittance/contracts/service-name.ts';
import { isSignedBy, type PublicKeys, type Trust } from '@quittance/runtime/trust.ts';

/**
 * Header of each internal call: a token that the calling process signs with its own key, for one service and a short
 * time.
 */
export const CALL_TOKEN_HEADER = 'x-call-token';
/** The header with which all services authenticated up to release 0.2.0. */
export const SHARED_TOKEN_HEADER = 'x-internal-token';

/** The longest lifetime of a token. */
const LIFE_SECONDS = 120;
/** The clocks of two machines may differ by this much. */
export const CLOCK_SKEW_SECONDS = 30;
/** A token is reused for this long. Its remaining lifetime is more than the allowed clock difference. */
const RENEWED_AFTER_SECONDS = 60;

const DOMAIN = 'quittance call v1.';

type Claims = { caller: Caller; audience: CallOwner; expires_at: number };

/** Returns the headers with which a process authenticates to a service. */
export type ShowCaller = (audience: CallOwner) => Record<string, string>;

/** @param now in milliseconds. */
export function createCallerHeaders(
  caller: Caller,
  { signer, sharedTokens: [sharedToken] }: Pick<Trust, 'signer' | 'sharedTokens'>,
  now: () => number = Date.now,
): ShowCaller {
  const kept = new Map<CallOwner, { token: string; renewedAt: number }>();

  function tokenFor(audience: CallOwner): string | null {
    if (signer === null) return null;
    const seconds = Math.floor(now() / 1000);
    const known = kept.get(audience);
    // If the clock was set back, the kept token would be reused for too long while services refuse it.
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
      // Services from before signing keys know only the shared token.
      ...(sharedToken !== undefined && { [SHARED_TOKEN_HEADER]: sharedToken }),
    };
  };
}

/** How many verified tokens are kept. The same token comes with each call for a minute. */
const REMEMBERED = 100;

/**
 * @returns a function that reads the caller from a token. It returns null for a token that is not signed by a known
 *   key, is for another service, or has expired.
 */
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
 * @param expiresAt in seconds, as the issuer wrote it. A time beyond the longest lifetime is not accepted.
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
