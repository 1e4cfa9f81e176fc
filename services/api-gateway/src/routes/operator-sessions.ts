import {
  CloseOperatorSession,
  OpenOperatorSession,
  ResumeOperatorSession,
  SignOutOperator,
} from '@quittance/contracts/http/api-gateway/operator-sessions.ts';
import { LinkOperator, OpenSessionByLink } from '@quittance/contracts/http/api-gateway/sign-in-links.ts';
import { actorOf } from '@quittance/contracts/operator.ts';
import type { OperatorToken } from '@quittance/contracts/http/api-gateway/operators.ts';
import { newSecret, sha256 } from '@quittance/contracts/ids.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { issueOperatorToken, OPERATOR_TOKEN_SECONDS } from '@quittance/http/operator-token.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { insertOperatorAudit, useCredential } from '../store/operator.ts';
import { deleteSessions, insertSession, signOutOperator, useSession } from '../store/operator-session.ts';
import { insertOperatorLink, takeLink } from '../store/sign-in-link.ts';
import { addCounts, type RateLimit } from '../store/rate-limit-window.ts';

type Dependencies = {
  db: Queryable;
  inTransaction: <T>(run: (tx: Transaction) => Promise<T>) => Promise<T>;
  internalToken: string;
};

/** For each address from which people sign in. */
const signIns: RateLimit = { scope: 'operator_sign_in', limit: 10, windowSeconds: 60 };

/** Sessions of operators at the console. Each call carries its own secret, so that the console itself has none. */
export const operatorSessionRoutes = ({ db, inTransaction, internalToken }: Dependencies): Route[] => [
  callRoute(OpenOperatorSession, async ({ body: { credential, client } }) => {
    await countSignIn(db, client);
    const operator = await useCredential(db, sha256(credential));
    if (operator === null) throw new HttpError(401, 'No operator has this credential');
    const session = newSecret('qs');
    await insertSession(db, operator.name, sha256(session));
    return { ...operator, session };
  }),
  callRoute(LinkOperator, async ({ params: { name }, author }) => {
    const link = newSecret('ql');
    return inTransaction(async (tx) => {
      const made = await insertOperatorLink(tx, name, sha256(link));
      if (made === null) throw new HttpError(404, 'No operator with this name works');
      await insertOperatorAudit(tx, { operator: name, action: 'make_sign_in_link', author, before: null, after: null });
      return { ...made.operator, link, ends_at: rfc3339(made.endsAt) };
    });
  }),
  callRoute(OpenSessionByLink, async ({ body: { link, client } }) => {
    await countSignIn(db, client);
    const session = newSecret('qs');
    return inTransaction(async (tx) => {
      const operator = await takeLink(tx, sha256(link));
      if (operator === null) throw new HttpError(401, 'This link has been used or is over: ask for another one');
      await insertSession(tx, operator.name, sha256(session));
      const author = { actor: actorOf(operator), reason: `from ${client}` };
      const entry = { operator: operator.name, action: 'use_sign_in_link', author, before: null, after: null } as const;
      await insertOperatorAudit(tx, entry);
      return { ...operator, session };
    });
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
  callRoute(SignOutOperator, ({ params: { name }, author }) =>
    inTransaction(async (tx) => {
      const closed = await signOutOperator(tx, name);
      if (closed === null) throw new HttpError(404, 'No operator has this name');
      await insertOperatorAudit(tx, { operator: name, action: 'sign_out', author, before: null, after: null });
      return { closed };
    }),
  ),
];

/** @throws HttpError 429. */
async function countSignIn(db: Queryable, client: string): Promise<void> {
  const { scope, limit, windowSeconds } = signIns;
  const subject = sha256(client).toString('hex');
  const [counted] = await addCounts(db, [{ scope, subject, windowSeconds, requests: 1 }]);
  if (counted === undefined || counted.count <= limit) return;
  throw new HttpError(429, 'Too many attempts to sign in', { 'retry-after': String(counted.seconds_left) });
}
