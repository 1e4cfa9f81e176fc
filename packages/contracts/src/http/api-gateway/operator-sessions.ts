import { defineCall, json, object } from '../../call.ts';
import type { Principal } from '../../principal.ts';
import type { Token } from './operators.ts';

/** A session ends after the first time without activity, and in any case after the second. */
export const SESSION_IDLE_SECONDS = 30 * 60;
export const SESSION_SECONDS = 12 * 60 * 60;

export const secretSchema = { type: 'string', minLength: 1, maxLength: 255 } as const;

/** Who may sign in at a console. A console for merchants need not admit operators. */
export const consoleAudiences = ['everyone', 'merchants'] as const;

export type ConsoleAudience = (typeof consoleAudiences)[number];

/**
 * From which address, and at which console, a person signs in. All attempts are counted, successful or not, for each
 * address and separately for each audience. An older console sends no audience, which means everyone.
 */
export type SignInPlace = { client: string; audience?: ConsoleAudience };

export const signInPlace = {
  client: { type: 'string', minLength: 1, maxLength: 100 },
  audience: { enum: consoleAudiences },
} as const;

/** The only answer that contains the session's secret, which goes into a cookie. */
export type OpenedSession = Principal & { session: string };

/**
 * Signs in an operator or a merchant's person. 401 unless the credential belongs to someone who may sign in at this
 * console; 429 with Retry-After after too many attempts.
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
 * Who is signed in, with a token to act as that person. 401 when the session has ended or the person may no longer sign
 * in: a disabled person, or one of a blocked merchant. 429 with Retry-After for too many requests by a merchant's
 * people.
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

/** Ends this session, or all sessions of its person. Returns how many ended. */
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

/** Ends every session of an operator, and the unused links. The account stays. 404 when no operator has the name. */
export const SignOutOperator = defineCall('api-gateway', 'POST /operators/:name/sign-out', json<{ closed: number }>(), {
  authored: true,
  access: 'admin',
});
