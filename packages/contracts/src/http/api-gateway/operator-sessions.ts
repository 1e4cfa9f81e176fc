import { defineCall, json, object } from '../../call.ts';
import type { Operator } from '../../operator.ts';
import type { OperatorToken } from './operators.ts';

/** A session ends when nothing was done in it for so long, and in any case after the second. */
export const SESSION_IDLE_SECONDS = 30 * 60;
export const SESSION_SECONDS = 12 * 60 * 60;

const secret = { type: 'string', minLength: 1, maxLength: 255 };

/** The only time the session's secret is seen; it goes into a cookie. */
export type OpenedSession = Operator & { session: string };

/**
 * Signs an operator in. `client` is the address of whoever tries; attempts are counted for each, right or wrong. 401 unless a working
 * operator has the credential, 429 with Retry-After after too many attempts.
 */
export const OpenOperatorSession = defineCall('api-gateway', 'POST /operator-sessions', json<OpenedSession>(), {
  access: 'anyone',
  body: object<{ credential: string; client: string }>({
    credential: secret,
    client: { type: 'string', minLength: 1, maxLength: 100 },
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
    body: object<{ session: string }>({ session: secret }),
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
    body: object<{ session: string; everywhere: boolean }>({ session: secret, everywhere: { type: 'boolean' } }),
    idempotent: true,
  },
);
