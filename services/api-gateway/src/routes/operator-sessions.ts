import {
  CloseOperatorSession,
  OpenOperatorSession,
  ResumeOperatorSession,
  SignOutOperator,
} from '@quittance/contracts/http/api-gateway/operator-sessions.ts';
import { LinkOperator, OpenSessionByLink } from '@quittance/contracts/http/api-gateway/sign-in-links.ts';
import type { Operator } from '@quittance/contracts/operator.ts';
import { actorOf, isMerchantPerson, type MerchantPerson, type Principal } from '@quittance/contracts/principal.ts';
import { newSecret, sha256 } from '@quittance/contracts/ids.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { issueOperatorToken, OPERATOR_TOKEN_SECONDS } from '@quittance/http/operator-token.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { Trust } from '@quittance/runtime/trust.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { insertAudit } from '../store/audit.ts';
import { insertLoginSession, takeLoginLink, useLoginCredential, useLoginSession } from '../store/merchant-login.ts';
import { insertOperatorAudit, useCredential } from '../store/operator.ts';
import { deleteSessions, insertSession, signOutOperator, useSession } from '../store/operator-session.ts';
import { insertOperatorLink, takeLink } from '../store/sign-in-link.ts';
import { addCounts, type RateLimit } from '../store/rate-limit-window.ts';

type Dependencies = {
  db: Queryable;
  inTransaction: <T>(run: (tx: Transaction) => Promise<T>) => Promise<T>;
  trust: Trust;
};

/** For each address from which people sign in. */
const signIns: RateLimit = { scope: 'operator_sign_in', limit: 10, windowSeconds: 60 };

/**
 * For the people of each merchant at the console, apart from its API keys: neither takes from the other. A page has a handful of calls, and
 * nothing else of them is counted.
 */
const merchantPages: RateLimit = { scope: 'merchant_pages', limit: 120, windowSeconds: 60 };

/** Sessions at the console, of operators and of merchants' people. Each call carries its own secret, so that the console itself has none. */
export const operatorSessionRoutes = ({ db, inTransaction, trust }: Dependencies): Route[] => [
  callRoute(OpenOperatorSession, async ({ body: { credential, client } }) => {
    await countSignIn(db, client);
    const session = newSecret('qs');
    // Together, so that an account which is disabled meanwhile leaves no session behind that it would come back to.
    return inTransaction(async (tx) => {
      const hash = sha256(credential);
      const person = (await useCredential(tx, hash)) ?? (await useLoginCredential(tx, hash));
      if (person === null) throw new HttpError(401, 'Nobody has this credential');
      await begin(tx, person, sha256(session));
      return { ...person, session };
    });
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
      const hash = sha256(link);
      const person = (await takeLink(tx, hash)) ?? (await takeLoginLink(tx, hash));
      if (person === null) throw new HttpError(401, 'This link has been used or is over: ask for another one');
      await begin(tx, person, sha256(session));
      await auditLink(tx, person, client);
      return { ...person, session };
    });
  }),
  callRoute(ResumeOperatorSession, async ({ body: { session } }) => {
    const hash = sha256(session);
    const person = (await useSession(db, hash)) ?? (await useMerchantSession(db, hash));
    if (person === null) throw new HttpError(401, 'This session is over');
    return { ...person, token: issueOperatorToken(trust, person), expires_in: OPERATOR_TOKEN_SECONDS };
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
async function useMerchantSession(db: Queryable, sessionHash: Buffer): Promise<MerchantPerson | null> {
  const person = await useLoginSession(db, sessionHash);
  if (person !== null) await countOrRefuse(db, merchantPages, person.merchant_id, 'Too many pages in a minute');
  return person;
}

const begin = (tx: Queryable, person: Principal, sessionHash: Buffer): Promise<void> =>
  isMerchantPerson(person) ? insertLoginSession(tx, person, sessionHash) : insertSession(tx, person.name, sessionHash);

/** In the audit of whom it concerns: of the operators, or of the merchant. */
async function auditLink(tx: Queryable, person: Operator | MerchantPerson, client: string): Promise<void> {
  const action = 'use_sign_in_link';
  const author = { actor: actorOf(person), reason: `from ${client}` };
  const { name } = person;
  if (!isMerchantPerson(person))
    return insertOperatorAudit(tx, { operator: name, action, author, before: null, after: null });
  await insertAudit(tx, { merchantId: person.merchant_id, action, author, change: { before: null, after: { name } } });
}

/** @throws HttpError 429. */
const countSignIn = (db: Queryable, client: string): Promise<void> =>
  countOrRefuse(db, signIns, sha256(client).toString('hex'), 'Too many attempts to sign in');

/** @throws HttpError 429. */
async function countOrRefuse(
  db: Queryable,
  { scope, limit, windowSeconds }: RateLimit,
  subject: string,
  refusal: string,
): Promise<void> {
  const [counted] = await addCounts(db, [{ scope, subject, windowSeconds, requests: 1 }]);
  if (counted === undefined || counted.count <= limit) return;
  throw new HttpError(429, refusal, { 'retry-after': String(counted.seconds_left) });
}
