import { defineCall, json, object } from '../../call.ts';
import type { Principal } from '../../principal.ts';
import { secretSchema, signInPlace, type OpenedSession, type SignInPlace, type Token } from './people.ts';

/*
 * Passkeys of operators and merchants' people (WebAuthn). Every call contains its own secret, a session or what a
 * passkey signed. All answer 409 while CONSOLE_RP_ID is not set.
 */

/** What a browser passes to `navigator.credentials`, as JSON of the WebAuthn specification. */
export type PasskeyOptions = { options: object };

/** What the browser returns: `PublicKeyCredential.toJSON()`. A passkey's answer has less than 8 KiB. */
type PasskeyAnswer = { id: string; response: Record<string, unknown> };

const answerSchema = {
  type: 'object',
  required: ['id', 'response'],
  properties: { id: { type: 'string', minLength: 1, maxLength: 1400 }, response: { type: 'object' } },
} as const;

/** How long a person has for one answer. */
export const CHALLENGE_SECONDS = 300;

/** The most passkeys of one person. */
export const PASSKEYS_MAX = 10;

export const PASSKEY_NAME_MAX = 60;

const idSchema = { type: 'string', minLength: 1, maxLength: 1400 } as const;
const ofSession = { session: secretSchema } as const;

/**
 * The host name that passkeys of this console belong to, one of those that api-gateway knows. Without it, the first of
 * them.
 */
type AtConsole = { rp_id?: string };

const rpIdSchema = { type: 'string', minLength: 1, maxLength: 253 } as const;

export type Passkey = { id: string; name: string; created_at: string; last_used_at: string | null };

/** A session of a person. `id` names it and is no secret. */
export type PersonSession = {
  id: string;
  current: boolean;
  created_at: string;
  last_seen_at: string;
  /** The address and the browser that it began with; null for sessions of earlier releases. */
  client: string | null;
  user_agent: string | null;
  has_passkey: boolean;
};

/** The account of the person whose session it is: passkeys, and sessions that are open. 401 when the session has ended. */
export const ReadAccount = defineCall(
  'api-gateway',
  'POST /account',
  json<{ passkeys: Passkey[]; sessions: PersonSession[] }>(),
  { access: 'anyone', body: object<{ session: string }>(ofSession), idempotent: true, changes: false },
);

/** Ends one session of the same person. 404 for any other. */
export const EndSession = defineCall('api-gateway', 'POST /account/end-session', json<{ closed: number }>(), {
  access: 'anyone',
  body: object<{ session: string; id: string }>({ ...ofSession, id: { type: 'string', pattern: '^[0-9a-f]{16}$' } }),
  idempotent: true,
});

/** Begins to add a passkey. 409 for a person with the most there may be. */
export const StartPasskey = defineCall('api-gateway', 'POST /account/passkey-options', json<PasskeyOptions>(), {
  access: 'anyone',
  body: object<{ session: string } & AtConsole>({ ...ofSession, rp_id: rpIdSchema }, { optional: ['rp_id'] }),
});

/**
 * Adds a passkey to the person's account, made with the person's token. The first needs no confirmation; any other is
 * confirmed with one that is there. 422 for an answer that is wrong or too late.
 */
export const AddPasskey = defineCall('api-gateway', 'POST /account/passkeys', json<Passkey>(), {
  access: 'anyone',
  body: object<{ session: string; name: string; answer: PasskeyAnswer }>({
    ...ofSession,
    name: { type: 'string', minLength: 1, maxLength: PASSKEY_NAME_MAX, format: 'visible' },
    answer: answerSchema,
  }),
  status: 201,
});

/** Made with the person's token, and confirmed. 404 for a passkey of somebody else. */
export const RemovePasskey = defineCall('api-gateway', 'POST /account/passkeys/remove', json<Passkey>(), {
  access: 'anyone',
  body: object<{ session: string; id: string }>({ ...ofSession, id: idSchema }),
});

/** Begins a sign-in with a passkey. 429 with Retry-After after too many. */
export const StartPasskeySignIn = defineCall(
  'api-gateway',
  'POST /operator-sessions/passkey-options',
  json<PasskeyOptions>(),
  {
    access: 'anyone',
    body: object<SignInPlace & AtConsole>(
      { ...signInPlace, rp_id: rpIdSchema },
      { optional: ['audience', 'user_agent', 'rp_id'] },
    ),
  },
);

/** 401 unless the passkey belongs to someone who may sign in at this console; 429 as with a credential. */
export const OpenSessionByPasskey = defineCall(
  'api-gateway',
  'POST /operator-sessions/by-passkey',
  json<OpenedSession>(),
  {
    access: 'anyone',
    body: object<{ answer: PasskeyAnswer } & SignInPlace>(
      { answer: answerSchema, ...signInPlace },
      { optional: ['audience', 'user_agent'] },
    ),
    status: 201,
  },
);

const requestHashSchema = { type: 'string', pattern: '^[A-Za-z0-9_-]{43}$' } as const;

/** Begins the confirmation of one request. 409 for a person without a passkey. */
export const StartConfirmation = defineCall(
  'api-gateway',
  'POST /account/confirmation-options',
  json<PasskeyOptions>(),
  {
    access: 'anyone',
    body: object<{ session: string; request_hash: string } & AtConsole>(
      { ...ofSession, request_hash: requestHashSchema, rp_id: rpIdSchema },
      { optional: ['rp_id'] },
    ),
  },
);

/** @returns a token with which this request may be made, within a minute. 403 for a wrong answer. */
export const ConfirmRequest = defineCall('api-gateway', 'POST /account/confirmations', json<Principal & Token>(), {
  access: 'anyone',
  body: object<{ session: string; request_hash: string; answer: PasskeyAnswer }>({
    ...ofSession,
    request_hash: requestHashSchema,
    answer: answerSchema,
  }),
});
