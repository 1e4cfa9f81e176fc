import { defineCall, json, object } from '../../call.ts';
import { OPERATOR_NAME, operatorRoles, type Operator } from '../../operator.ts';
import { query } from '../../query.ts';
import type { AuditEntry } from '../audit.ts';

/** A person's account. Only the credential's hash is stored. */
export type OperatorAccount = Operator & {
  created_at: string;
  /** When a token was last issued for the credential; null before the first time. */
  last_used_at: string | null;
  /** Null while the credential works. */
  disabled_at: string | null;
};

/** The only answer that contains the credential. */
export type NewOperator = Operator & { credential: string };

/**
 * Adds an operator, or enables a disabled one with the new role and a new credential. 409 for one who is not disabled.
 */
export const AddOperator = defineCall('api-gateway', 'POST /operators', json<NewOperator>(), {
  authored: true,
  access: 'admin',
  body: object<Operator>({ name: { type: 'string', pattern: OPERATOR_NAME }, role: { enum: operatorRoles } }),
  status: 201,
});

/** The working operators first, each sorted by name; at most five hundred. */
export const ListOperators = defineCall('api-gateway', 'GET /operators', json<{ operators: OperatorAccount[] }>(), {
  access: 'admin',
});

/**
 * The credential is refused from now on. The last token issued for it expires within minutes. 404 when no working
 * operator has the name.
 */
export const DisableOperator = defineCall('api-gateway', 'POST /operators/:name/disable', json<OperatorAccount>(), {
  authored: true,
  access: 'admin',
});

/**
 * A change of an operator's account, a sign-in, or an attempt. `operator` is null for an unknown credential or link.
 */
export type OperatorChange = AuditEntry & { operator: string | null };

/** The newest hundred, before a time if one is given. `only=changes` leaves out sign-ins and attempts. */
export const ReadOperatorAudit = defineCall(
  'api-gateway',
  'GET /operators/audit',
  json<{ entries: OperatorChange[] }>(),
  { access: 'admin', query: { before: query.timestamp, only: query.oneOf('changes') } },
);

/** Sent with a person's requests until it expires. */
export type Token = { token: string; expires_in: number };

export type OperatorToken = Operator & Token;

/** A credential is all that is needed. 401 unless a working operator has it. */
export const IssueOperatorToken = defineCall('api-gateway', 'POST /operator-tokens', json<OperatorToken>(), {
  access: 'anyone',
  body: object<{ credential: string }>({ credential: { type: 'string', minLength: 1, maxLength: 255 } }),
  // Repeating it issues another token, which does no harm.
  idempotent: true,
});
