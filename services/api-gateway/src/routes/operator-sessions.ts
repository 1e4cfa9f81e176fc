import {
  CloseOperatorSession,
  OpenOperatorSession,
  ResumeOperatorSession,
} from '@quittance/contracts/http/api-gateway/operator-sessions.ts';
import type { OperatorToken } from '@quittance/contracts/http/api-gateway/operators.ts';
import { newSecret, sha256 } from '@quittance/contracts/ids.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { issueOperatorToken, OPERATOR_TOKEN_SECONDS } from '@quittance/http/operator-token.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { useCredential } from '../store/operator.ts';
import { deleteSessions, insertSession, useSession } from '../store/operator-session.ts';
import { addCounts, type RateLimit } from '../store/rate-limit-window.ts';

type Dependencies = { db: Queryable; internalToken: string };

/** For each address from which people sign in. */
const signIns: RateLimit = { scope: 'operator_sign_in', limit: 10, windowSeconds: 60 };

/** Sessions of operators at the console. Each call carries its own secret, so that the console itself has none. */
export const operatorSessionRoutes = ({ db, internalToken }: Dependencies): Route[] => [
  callRoute(OpenOperatorSession, async ({ body: { credential, client } }) => {
    await countSignIn(db, client);
    const operator = await useCredential(db, sha256(credential));
    if (operator === null) throw new HttpError(401, 'No operator has this credential');
    const session = newSecret('qs');
    await insertSession(db, operator.name, sha256(session));
    return { ...operator, session };
  }),
  callRoute(ResumeOperatorSession, async ({ body: { session } }): Promise<OperatorToken> => {
    const operator = await useSession(db, sha256(session));
    if (operator === null) throw new HttpError(401, 'This session is over');
    const token = issueOperatorToken(internalToken, operator);
    return { ...operator, token, expires_in: OPERATOR_TOKEN_SECONDS };
  }),
  callRoute(CloseOperatorSession, async ({ body: { session, everywhere } }) => ({
    closed: await deleteSessions(db, sha256(session), everywhere),
  })),
];

/** @throws HttpError 429. */
async function countSignIn(db: Queryable, client: string): Promise<void> {
  const { scope, limit, windowSeconds } = signIns;
  const subject = sha256(client).toString('hex');
  const [counted] = await addCounts(db, [{ scope, subject, windowSeconds, requests: 1 }]);
  if (counted === undefined || counted.count <= limit) return;
  throw new HttpError(429, 'Too many attempts to sign in', { 'retry-after': String(counted.seconds_left) });
}
