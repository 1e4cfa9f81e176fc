import type { Author } from '@quittance/contracts/author.ts';
import { ReportCheck } from '@quittance/contracts/http/check.ts';
import {
  CloseOperatorSession,
  OpenOperatorSession,
  ResetOperatorPasskeys,
  ResumeOperatorSession,
  SignOutOperator,
  AddOperator,
  DisableOperator,
  IssueOperatorToken,
  ListOperators,
  ReadOperatorAudit,
  type NewOperator,
  type OperatorAccount,
  LinkOperator,
  OpenSessionByLink,
} from '@quittance/contracts/http/api-gateway/people.ts';
import { newSecret, sha256 } from '@quittance/contracts/ids.ts';
import { isMerchantPerson, type Operator } from '@quittance/contracts/principal.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { issueOperatorToken, OPERATOR_TOKEN_SECONDS } from '@quittance/http/operator-token.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transact } from '@quittance/postgres/transaction.ts';
import { startLoop, type Loop, type LoopContext } from '@quittance/runtime/loop.ts';
import { rfc3339, withTextTimes } from '@quittance/runtime/time.ts';
import type { RateLimit } from '../limits/admission.sql.ts';
import { readBackupState } from './backup-report.sql.ts';
import { keepIncompleteCheck, keepWholeCheck, readCheckState } from './check-report.sql.ts';
import { takeLoginLink, useLoginCredential } from './login.sql.ts';
import {
  addOperator,
  deleteSessions,
  disableOperator,
  findCredentialOwner,
  insertOperatorAudit,
  insertOperatorLink,
  listOperators,
  readOperatorAudit,
  signOutOperator,
  takeLink,
  useCredential,
} from './operator.sql.ts';
import { deletePasskeys } from './passkey.sql.ts';
import { principalOf, stateOf, useAnySession, type SessionPerson } from './session.ts';
import { auditOwn, auditRefusal, auditToken, countOrRefuse, openSession, type People } from './sign-in.ts';

type Dependencies = Pick<People, 'db' | 'transact' | 'trust'>;

const LIST_MAX = 500;
const AUDIT_MAX = 100;

/** The accounts of operators, and the tokens they get for their credentials. */
export const operatorRoutes = ({ db, transact, trust }: Dependencies): Route[] => [
  callRoute(AddOperator, (request) => addAccount(transact, request)),
  callRoute(ResetOperatorPasskeys, ({ params: { name }, author }) =>
    transact(async (tx) => {
      const removed = await deletePasskeys(tx, { name, role: 'viewer' });
      if (removed === null) throw noActiveOperator();
      await insertOperatorAudit(tx, { operator: name, action: 'reset_passkeys', author });
      return { removed };
    }),
  ),
  callRoute(ListOperators, async () => ({ operators: (await listOperators(db, LIST_MAX)).map(withTextTimes) })),
  callRoute(DisableOperator, (request) => disableAccount(transact, request)),
  callRoute(ReadOperatorAudit, async ({ query }) => ({
    entries: (await readOperatorAudit(db, query, AUDIT_MAX)).map(withTextTimes),
  })),
  callRoute(IssueOperatorToken, async ({ body: { credential }, remoteAddress: client }) => {
    const hash = sha256(credential);
    const operator = await useCredential(db, hash);
    if (operator === null) {
      await auditRefusal(db, await findCredentialOwner(db, hash), { client, at: 'ops' });
      throw new HttpError(401, 'No operator has this credential');
    }
    await auditToken(db, operator, client);
    return { ...operator, token: issueOperatorToken(trust, operator), expires_in: OPERATOR_TOKEN_SECONDS };
  }),
];

async function addAccount(
  transact: Transact,
  { body: { name, role }, author }: { body: Operator; author: Author },
): Promise<NewOperator> {
  const credential = newSecret('qo');
  await transact(async (tx) => {
    const former = await addOperator(tx, { name, role, credentialHash: sha256(credential) });
    if (former === null)
      throw new HttpError(409, `${name} is already active: disable it first, or choose another name`);
    // Who comes back may have lost the device in the meantime.
    const before =
      former === 'new'
        ? null
        : { role: former, disabled: true, passkeys: (await deletePasskeys(tx, { name, role })) ?? 0 };
    await insertOperatorAudit(tx, { operator: name, action: 'add', author, before, after: { role } });
  });
  return { name, role, credential };
}

async function disableAccount(
  transact: Transact,
  { params: { name }, author }: { params: { name: string }; author: Author },
): Promise<OperatorAccount> {
  const disabled = await transact(async (tx) => {
    const operator = await disableOperator(tx, name);
    if (operator === null) throw noActiveOperator();
    const change = { before: { disabled: false }, after: { disabled: true } };
    await insertOperatorAudit(tx, { operator: name, action: 'disable', author, ...change });
    return operator;
  });
  return withTextTimes(disabled);
}

const noActiveOperator = (): HttpError => new HttpError(404, 'No active operator has this name');

/**
 * Calls of each merchant's people at the console. Apart from the limits of API keys, so that people and programs do not block each other.
 * A page makes only a few calls, so they have no other limit.
 */
const merchantPages: RateLimit = { scope: 'merchant_pages', limit: 120, windowSeconds: 60 };

/** Console sessions of operators and merchants' people. Each call carries the session's secret, because the console stores none. */
export const sessionRoutes = (people: People): Route[] => {
  const { db, transact, trust } = people;
  return [
    callRoute(OpenOperatorSession, ({ body: { credential, ...place } }) => {
      const hash = sha256(credential);
      return openSession(people, place, {
        action: 'sign_in',
        use: async (tx) => (await useCredential(tx, hash)) ?? (await useLoginCredential(tx, hash)),
        ownerOf: (tx) => findCredentialOwner(tx, hash),
        refusal: 'Nobody has this credential',
      });
    }),
    callRoute(LinkOperator, async ({ params: { name }, author }) => {
      const link = newSecret('ql');
      return transact(async (tx) => {
        const made = await insertOperatorLink(tx, name, sha256(link));
        if (made === null) throw noActiveOperator();
        await insertOperatorAudit(tx, { operator: name, action: 'make_sign_in_link', author });
        return { ...made.operator, link, ends_at: rfc3339(made.endsAt) };
      });
    }),
    callRoute(OpenSessionByLink, ({ body: { link, ...place } }) => {
      const hash = sha256(link);
      return openSession(people, place, {
        action: 'use_sign_in_link',
        use: async (tx) => (await takeLink(tx, hash)) ?? (await takeLoginLink(tx, hash)),
        // Expired links are deleted.
        ownerOf: () => Promise.resolve(null),
        refusal: 'This link has been used or has expired: ask for a new one',
      });
    }),
    callRoute(ResumeOperatorSession, async ({ body: { session } }) => {
      const person = await useAnySession(db, sha256(session));
      if (person === null) throw new HttpError(401, 'This session has ended');
      await countPage(db, person);
      const principal = principalOf(person, people);
      const token = issueOperatorToken(trust, principal);
      return { ...principal, ...stateOf(person, people), token, expires_in: OPERATOR_TOKEN_SECONDS };
    }),
    callRoute(CloseOperatorSession, ({ body: { session, everywhere } }) =>
      transact(async (tx) => {
        const person = await useAnySession(tx, sha256(session));
        const closed = await deleteSessions(tx, sha256(session), everywhere);
        if (person !== null)
          await auditOwn(tx, person, everywhere ? 'sign_out_everywhere' : 'sign_out', 'at the console');
        return { closed };
      }),
    ),
    callRoute(SignOutOperator, ({ params: { name }, author }) =>
      transact(async (tx) => {
        const closed = await signOutOperator(tx, name);
        if (closed === null) throw new HttpError(404, 'No operator has this name');
        await insertOperatorAudit(tx, { operator: name, action: 'sign_out_everywhere', author });
        return { closed };
      }),
    ),
  ];
};

/** @throws HttpError 429. */
async function countPage(db: Queryable, person: SessionPerson): Promise<void> {
  if (isMerchantPerson(person))
    await countOrRefuse(db, merchantPages, person.merchant_id, 'Too many pages in a minute');
}

/** Stores what `ops check --report` found. */
export const checkReportRoute = ({ db }: { db: Queryable }): Route =>
  callRoute(ReportCheck, async ({ body }) => ({
    kept: await (body.whole ? keepWholeCheck(db, body) : keepIncompleteCheck(db, body)),
  }));

const SHOW_REPORTS_INTERVAL_MS = 15_000;

/**
 * Exports as metrics how the last `ops check --report` and the last backup ended. Each replica exports the same values: use their maximum.
 */
export function startShowReportsLoop({ db, logger, metrics }: LoopContext & { db: Queryable }): Loop {
  const lastRun = metrics.gauge(
    'check_last_run_timestamp_seconds',
    'When ops check last looked at everything (whole), or ended before that (incomplete)',
    ['outcome'],
  );
  const found = metrics.gauge('check_violations', 'How often a rule was broken at the last whole check', ['rule']);
  const lastBackup = metrics.gauge(
    'backup_last_run_timestamp_seconds',
    'When the database was last copied (succeeded), or a copy failed (failed), if that is recorded',
    ['outcome'],
  );
  const run = async () => {
    const { whole_at: wholeAt, incomplete_at: incompleteAt, violations } = await readCheckState(db);
    const { succeeded_at: succeededAt, failed_at: failedAt } = await readBackupState(db);
    lastRun.set({ outcome: 'whole' }, wholeAt.getTime() / 1000);
    if (incompleteAt !== null) lastRun.set({ outcome: 'incomplete' }, incompleteAt.getTime() / 1000);
    // No await between reset and set, so a scrape never finds a gauge empty.
    found.reset();
    for (const { rule, count } of violations) found.set({ rule }, count);
    lastBackup.reset();
    if (succeededAt !== null) lastBackup.set({ outcome: 'succeeded' }, succeededAt.getTime() / 1000);
    if (failedAt !== null) lastBackup.set({ outcome: 'failed' }, failedAt.getTime() / 1000);
    return { more: false };
  };
  return startLoop({ name: 'show-reports', intervalMs: SHOW_REPORTS_INTERVAL_MS, logger, metrics, run });
}
