import { defineCall, json, object } from '../../call.ts';
import type { Operator } from '../../operator.ts';
import type { OperatorToken } from './operators.ts';

/** A session ends when nothing was done in it for so long, and in any case after the second. */
export const SESSION_IDLE_SECONDS = 30 * 60;
export const SESSION_SECONDS = 12 * 60 * 60;

export const secretSchema = { type: 'string', minLength: 1, maxLength: 255 } as const;
/** The address of whoever tries to sign in: attempts are counted for each, right or wrong. */
export const signInClient = { type: 'string', minLength: 1, maxLength: 100 } as const;

/** The only time the session's secret is seen; it goes into a cookie. */
export type OpenedSession = Operator & { session: string };

/**
 * Signs an operator in. 401 unless a working operator has the credential, 429 with Retry-After after too many attempts.
 */
export const OpenOperatorSession = defineCall('api-gateway', 'POST /operator-sessions', json<OpenedSession>(), {
  access: 'anyone',
  body: object<{ credential: string; client: string }>({
    credential: secretSchema,
    client: signInClient,
  }),
  status: 201,
});

/** Who is signed in, with a token to act as that operator. 401 once the session has ended, or its operator is disabled. */
export const ResumeOperatorSession = defineCall(
  'api-gateway',
  'POST /operator-sessions/resume',
  json<OperatorToken>(),
  {
    access: 'anyone',
    body: object<{ session: string }>({ session: secretSchema }),
    idempotent: true,
  },
);

/** Signs out: of this session, or of all that its operator has. Says how many ended. */
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
