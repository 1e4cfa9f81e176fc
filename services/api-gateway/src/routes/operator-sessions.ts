import {
  CloseOperatorSession,
  OpenOperatorSession,
  ResumeOperatorSession,
  SignOutOperator,
} from '@quittance/contracts/http/api-gateway/operator-sessions.ts';
import { LinkOperator, OpenSessionByLink } from '@quittance/contracts/http/api-gateway/sign-in-links.ts';
import type { MerchantPerson } from '@quittance/contracts/principal.ts';
import { newSecret, sha256 } from '@quittance/contracts/ids.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { issueOperatorToken, OPERATOR_TOKEN_SECONDS } from '@quittance/http/operator-token.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { Trust } from '@quittance/runtime/trust.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { takeLoginLink, useLoginCredential, useLoginSession } from '../store/merchant-login.ts';
import { findCredentialOwner, insertOperatorAudit, useCredential } from '../store/operator.ts';
import { deleteSessions, signOutOperator, useSession } from '../store/operator-session.ts';
import { insertOperatorLink, takeLink } from '../store/sign-in-link.ts';
import type { RateLimit } from '../store/rate-limit-window.ts';
import { countOrRefuse } from '../sign-in/attempts.ts';
import { openSession } from '../sign-in/open-session.ts';

type Dependencies = {
  db: Queryable;
  inTransaction: <T>(run: (tx: Transaction) => Promise<T>) => Promise<T>;
  trust: Trust;
};

/**
 * For the people of each merchant at the console, apart from its API keys: neither takes from the other. A page has a handful of calls, and
 * nothing else of them is counted.
 */
const merchantPages: RateLimit = { scope: 'merchant_pages', limit: 120, windowSeconds: 60 };

/** Sessions at the console, of operators and of merchants' people. Each call carries its own secret, so that the console itself has none. */
export const operatorSessionRoutes = ({ db, inTransaction, trust }: Dependencies): Route[] => [
  callRoute(OpenOperatorSession, ({ body: { credential, ...place } }) => {
    const hash = sha256(credential);
    return openSession({ db, inTransaction }, place, {
      action: 'sign_in',
      use: async (tx) => (await useCredential(tx, hash)) ?? (await useLoginCredential(tx, hash)),
      ownerOf: (tx) => findCredentialOwner(tx, hash),
      refusal: 'Nobody has this credential',
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
  callRoute(OpenSessionByLink, ({ body: { link, ...place } }) => {
    const hash = sha256(link);
    return openSession({ db, inTransaction }, place, {
      action: 'use_sign_in_link',
      use: async (tx) => (await takeLink(tx, hash)) ?? (await takeLoginLink(tx, hash)),
      // Links that are over are forgotten.
      ownerOf: () => Promise.resolve(null),
      refusal: 'This link has been used or is over: ask for another one',
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
