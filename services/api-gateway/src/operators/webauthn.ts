import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import { CHALLENGE_SECONDS } from '@quittance/contracts/http/api-gateway/passkeys.ts';
import { sha256 } from '@quittance/contracts/ids.ts';
import { actorOf, isMerchantPerson, type Principal } from '@quittance/contracts/principal.ts';
import type { StoredPasskey } from './passkey.sql.ts';

/** What a browser returned, not checked yet. */
export type Answer = { id: string; response: Record<string, unknown> };

type Options = { challenge: string; options: object };
/** COSE: ES256, EdDSA, RS256, which every authenticator has one of. */
const algorithms = [-7, -8, -257];

type Known = { id: string; transports: string[] };

/**
 * Makes and checks what passkeys sign (WebAuthn). A passkey asks for the device's PIN, fingerprint or face each time, and
 * belongs to one of the host names `rpIds`: a browser uses it nowhere else.
 */
export function createWebauthn(rpIds: readonly string[]) {
  /** @param asked the one of the console; any other, and none, is the first. */
  const shownAt = (asked: string | undefined) => ({
    rpID: rpIds.find((rpId) => rpId === asked) ?? rpIds[0] ?? '',
    timeout: CHALLENGE_SECONDS * 1000,
  });
  return {
    async registration(person: Principal, known: readonly Known[], rpId?: string): Promise<Options> {
      const options = await generateRegistrationOptions({
        ...shownAt(rpId),
        rpName: 'Quittance',
        userName: actorOf(person),
        userDisplayName: person.name,
        // The same for all passkeys of a person, so that a device replaces its own.
        userID: new Uint8Array(sha256(isMerchantPerson(person) ? `${person.merchant_id}/${person.name}` : person.name)),
        excludeCredentials: [...known],
        supportedAlgorithmIDs: algorithms,
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      });
      return { challenge: options.challenge, options };
    },

    /** @param known the passkeys that may sign; empty for any, which names its owner. */
    async authentication(known: readonly Known[], rpId?: string): Promise<Options> {
      const options = await generateAuthenticationOptions({
        ...shownAt(rpId),
        userVerification: 'required',
        ...(known.length > 0 && { allowCredentials: [...known] }),
      });
      return { challenge: options.challenge, options };
    },

    /** @returns the new passkey, or null for an answer that is wrong. */
    async register(answer: Answer): Promise<StoredPasskey | null> {
      try {
        const { verified, registrationInfo } = await verifyRegistrationResponse({
          response: responseOf<'register'>(answer),
          supportedAlgorithmIDs: algorithms,
          ...expected(answer, rpIds),
        });
        if (!verified) return null;
        const { id, publicKey, counter, transports = [] } = registrationInfo.credential;
        return { id, publicKey: Buffer.from(publicKey), counter, transports };
      } catch {
        return null;
      }
    },

    /** @returns the passkey's new counter, or null for an answer that is wrong. */
    async authenticate(answer: Answer, { id, publicKey, counter, transports }: StoredPasskey): Promise<number | null> {
      try {
        const { verified, authenticationInfo } = await verifyAuthenticationResponse({
          response: responseOf<'authenticate'>(answer),
          ...expected(answer, rpIds),
          credential: { id, publicKey: new Uint8Array(publicKey), counter, transports },
        });
        return verified ? authenticationInfo.newCounter : null;
      } catch {
        return null;
      }
    },
  };
}

export type Webauthn = ReturnType<typeof createWebauthn>;

/** The library checks the shape, and throws for any other. */
const responseOf = <Kind extends 'register' | 'authenticate'>({ id, response }: Answer) =>
  ({ id, rawId: id, type: 'public-key', clientExtensionResults: {}, response }) as unknown as Parameters<
    Kind extends 'register' ? typeof verifyRegistrationResponse : typeof verifyAuthenticationResponse
  >[0]['response'];

/** The challenge must be taken before, so any that the answer names is the right one. */
function expected(answer: Answer, rpIds: readonly string[]) {
  const origin = originOf(answer);
  const rpId = rpIds.find((one) => isOriginOf(one, origin));
  return {
    expectedChallenge: () => true,
    ...(rpId === undefined ? { expectedRPID: [], expectedOrigin: [] } : { expectedRPID: rpId, expectedOrigin: origin }),
    requireUserVerification: true,
  };
}

/** What the browser says that it signed for. */
function clientDataOf({ response }: Answer): { challenge?: unknown; origin?: unknown } {
  try {
    const text = Buffer.from(String(response['clientDataJSON']), 'base64url').toString('utf8');
    const data: unknown = JSON.parse(text);
    return typeof data === 'object' && data !== null ? data : {};
  } catch {
    return {};
  }
}

/** @returns '' for an answer that names none. */
export function challengeOf(answer: Answer): string {
  const { challenge } = clientDataOf(answer);
  return typeof challenge === 'string' ? challenge.slice(0, 100) : '';
}

function originOf(answer: Answer): string {
  const { origin } = clientDataOf(answer);
  return typeof origin === 'string' ? origin : '';
}

/** The host itself or one below it, over HTTPS; on one's own machine any port of localhost. */
function isOriginOf(rpId: string, origin: string): boolean {
  const url = URL.parse(origin);
  if (url === null || url.origin !== origin) return false;
  if (url.hostname !== rpId && !url.hostname.endsWith(`.${rpId}`)) return false;
  return url.protocol === 'https:' || (rpId === 'localhost' && url.protocol === 'http:');
}
