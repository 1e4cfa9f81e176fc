import { defineCall, json, object } from '../../call.ts';
import { OPERATOR_NAME, operatorRoles, type Operator } from '../../operator.ts';
import { query } from '../../query.ts';
import type { AuditEntry } from '../audit.ts';

/** A person's account. Of the credential only its hash exists. */
export type OperatorAccount = Operator & {
  created_at: string;
  /** When a token was last given for the credential; null before the first time. */
  last_used_at: string | null;
  /** Null while the credential works. */
  disabled_at: string | null;
};

/** The only time the credential is seen. */
export type NewOperator = Operator & { credential: string };

/** A disabled operator comes back with the new role and a new credential; 409 for one who is not disabled. */
export const AddOperator = defineCall('api-gateway', 'POST /operators', json<NewOperator>(), {
  authored: true,
  access: 'admin',
  body: object<Operator>({ name: { type: 'string', pattern: OPERATOR_NAME }, role: { enum: operatorRoles } }),
  status: 201,
});

/** The working ones first, each by name; five hundred at most. */
export const ListOperators = defineCall('api-gateway', 'GET /operators', json<{ operators: OperatorAccount[] }>(), {
  access: 'admin',
});

/** The credential is refused from now on; the last token given for it lapses within minutes. 404 when no working operator has the name. */
export const DisableOperator = defineCall('api-gateway', 'POST /operators/:name/disable', json<OperatorAccount>(), {
  authored: true,
  access: 'admin',
});

/**
 * What was done to accounts of operators, and who signed in as one or tried to. `operator` is null for a credential or link that is nobody's.
 */
export type OperatorChange = AuditEntry & { operator: string | null };

/** The newest hundred, those before a time if one is given. `only=changes` leaves out who signed in, or tried to. */
export const ReadOperatorAudit = defineCall(
  'api-gateway',
  'GET /operators/audit',
  json<{ entries: OperatorChange[] }>(),
  { access: 'admin', query: { before: query.timestamp, only: query.oneOf('changes') } },
);

/** Goes with somebody's requests until it lapses. */
export type Token = { token: string; expires_in: number };

export type OperatorToken = Operator & Token;

/** Who has a credential needs nothing else. 401 unless a working operator has it. */
export const IssueOperatorToken = defineCall('api-gateway', 'POST /operator-tokens', json<OperatorToken>(), {
  access: 'anyone',
  body: object<{ credential: string }>({ credential: { type: 'string', minLength: 1, maxLength: 255 } }),
  // The credential stays, and a token more does no harm.
  idempotent: true,
});
