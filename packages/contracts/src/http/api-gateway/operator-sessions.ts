import { defineCall, json, object } from '../../call.ts';
import type { Principal } from '../../principal.ts';
import type { Token } from './operators.ts';

/** A session ends when nothing was done in it for so long, and in any case after the second. */
export const SESSION_IDLE_SECONDS = 30 * 60;
export const SESSION_SECONDS = 12 * 60 * 60;

export const secretSchema = { type: 'string', minLength: 1, maxLength: 255 } as const;

/** Who may sign in at a console: one that merchants reach need not be one for operators. */
export const consoleAudiences = ['everyone', 'merchants'] as const;

export type ConsoleAudience = (typeof consoleAudiences)[number];

/**
 * Where somebody tries to sign in: from which address, at which console. Attempts are counted for each address, right or wrong, and apart for
 * each audience. An older console names none, and is for everyone.
 */
export type SignInPlace = { client: string; audience?: ConsoleAudience };

export const signInPlace = {
  client: { type: 'string', minLength: 1, maxLength: 100 },
  audience: { enum: consoleAudiences },
} as const;

/** The only time the session's secret is seen; it goes into a cookie. */
export type OpenedSession = Principal & { session: string };

/**
 * Signs an operator or a merchant's person in. 401 unless somebody who may sign in at this console has the credential, 429 with Retry-After
 * after too many attempts.
 */
export const OpenOperatorSession = defineCall('api-gateway', 'POST /operator-sessions', json<OpenedSession>(), {
  access: 'anyone',
  body: object<{ credential: string } & SignInPlace>(
    { credential: secretSchema, ...signInPlace },
    { optional: ['audience'] },
  ),
  status: 201,
});

/**
 * Who is signed in, with a token to act as that person. 401 once the session has ended, or somebody may not sign in any more: a disabled
 * person, or one of a blocked merchant. 429 with Retry-After when a merchant's people ask too often.
 */
export const ResumeOperatorSession = defineCall(
  'api-gateway',
  'POST /operator-sessions/resume',
  json<Principal & Token>(),
  {
    access: 'anyone',
    body: object<{ session: string }>({ session: secretSchema }),
    idempotent: true,
  },
);

/** Signs out: of this session, or of all that its person has. Says how many ended. */
export const CloseOperatorSession = defineCall(
  'api-gateway',
  'POST /operator-sessions/close',
  json<{ closed: number }>(),
  {
    access: 'anyone',
    body: object<{ session: string; everywhere: boolean }>({ session: secretSchema, everywhere: { type: 'boolean' } }),
    idempotent: true,
  },
);

/** Ends every session of an operator, and the links not yet used; the account stays. 404 when no operator has the name. */
export const SignOutOperator = defineCall('api-gateway', 'POST /operators/:name/sign-out', json<{ closed: number }>(), {
  authored: true,
  access: 'admin',
});
