import type { Author } from '@quittance/contracts/author.ts';
import {
  AddOperator,
  DisableOperator,
  IssueOperatorToken,
  ListOperators,
  ReadOperatorAudit,
  type NewOperator,
  type OperatorAccount,
} from '@quittance/contracts/http/api-gateway/operators.ts';
import { newSecret, sha256 } from '@quittance/contracts/ids.ts';
import type { Operator } from '@quittance/contracts/operator.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { issueOperatorToken, OPERATOR_TOKEN_SECONDS } from '@quittance/http/operator-token.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { Trust } from '@quittance/runtime/trust.ts';
import { rfc3339, withTextTimes } from '@quittance/runtime/time.ts';
import {
  addOperator,
  disableOperator,
  findCredentialOwner,
  insertOperatorAudit,
  listOperators,
  readOperatorAudit,
  useCredential,
} from '../store/operator.ts';
import { auditRefusal, auditToken } from '../sign-in/audit.ts';

type Dependencies = {
  db: Queryable;
  inTransaction: <T>(run: (tx: Transaction) => Promise<T>) => Promise<T>;
  trust: Trust;
};

const LIST_MAX = 500;
const AUDIT_MAX = 100;

/** The accounts of those who run the system, and the tokens that they get for their credentials. */
export const operatorAccountRoutes = ({ db, inTransaction, trust }: Dependencies): Route[] => [
  callRoute(AddOperator, (request) => add(inTransaction, request)),
  callRoute(ListOperators, async () => ({ operators: (await listOperators(db, LIST_MAX)).map(withTextTimes) })),
  callRoute(DisableOperator, (request) => disable(inTransaction, request)),
  callRoute(ReadOperatorAudit, async ({ query }) => ({
    entries: (await readOperatorAudit(db, query, AUDIT_MAX)).map(({ at, ...entry }) => ({
      at: rfc3339(at),
      ...entry,
    })),
  })),
  callRoute(IssueOperatorToken, async ({ body: { credential }, remoteAddress: client }) => {
    const hash = sha256(credential);
    const operator = await useCredential(db, hash);
    if (operator === null) {
      await auditRefusal(db, await findCredentialOwner(db, hash), { client, at: 'ops' });
      throw new HttpError(401, 'No operator has this credential');
    }
    await auditToken(db, operator, client);
    return {
      ...operator,
      token: issueOperatorToken(trust, operator),
      expires_in: OPERATOR_TOKEN_SECONDS,
    };
  }),
];

async function add(
  inTransaction: Dependencies['inTransaction'],
  { body: { name, role }, author }: { body: Operator; author: Author },
): Promise<NewOperator> {
  const credential = newSecret('qo');
  await inTransaction(async (tx) => {
    const before = await addOperator(tx, { name, role, credentialHash: sha256(credential) });
    if (before === null) throw new HttpError(409, `${name} works already: disable it first, or choose another name`);
    const audited = { before: before === 'new' ? null : { role: before, disabled: true }, after: { role } };
    await insertOperatorAudit(tx, { operator: name, action: 'add', author, ...audited });
  });
  return { name, role, credential };
}

async function disable(
  inTransaction: Dependencies['inTransaction'],
  { params: { name }, author }: { params: { name: string }; author: Author },
): Promise<OperatorAccount> {
  const disabled = await inTransaction(async (tx) => {
    const operator = await disableOperator(tx, name);
    if (operator === null) throw new HttpError(404, 'No operator with this name works');
    const audited = { before: { disabled: false }, after: { disabled: true } };
    await insertOperatorAudit(tx, { operator: name, action: 'disable', author, ...audited });
    return operator;
  });
  return withTextTimes(disabled);
}
