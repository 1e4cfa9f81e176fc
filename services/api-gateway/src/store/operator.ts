import type { Author } from '@quittance/contracts/author.ts';
import type { OperatorAccount, OperatorChange } from '@quittance/contracts/http/api-gateway/operators.ts';
import type { Operator, OperatorRole } from '@quittance/contracts/operator.ts';
import type { Principal } from '@quittance/contracts/principal.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { WithDates } from '@quittance/runtime/time.ts';

export type OperatorRow = WithDates<OperatorAccount, 'created_at' | 'last_used_at' | 'disabled_at'>;

const columns = 'name, role, created_at, last_used_at, disabled_at';

/** @returns the role that a disabled one had who comes back, `new` for a new name, and null when a working operator has the name. */
export async function addOperator(
  tx: Queryable,
  { name, role, credentialHash }: Operator & { credentialHash: Buffer },
): Promise<OperatorRole | 'new' | null> {
  const { rows } = await tx.query<{ role: OperatorRole }>('select role from operator where name = $1 for update', [
    name,
  ]);
  const { rowCount } = await tx.query(
    `insert into operator as o (name, role, credential_hash) values ($1, $2, $3)
     on conflict (name) do update
       set role = excluded.role, credential_hash = excluded.credential_hash, last_used_at = null, disabled_at = null
       where o.disabled_at is not null`,
    [name, role, credentialHash],
  );
  return rowCount === 0 ? null : (rows[0]?.role ?? 'new');
}

export async function listOperators(db: Queryable, limit: number): Promise<OperatorRow[]> {
  const { rows } = await db.query<OperatorRow>(
    `select ${columns} from operator order by disabled_at is not null, name limit $1`,
    [limit],
  );
  return rows;
}

/** Ends the operator's sessions and links too. @returns null when no working operator has the name. */
export async function disableOperator(tx: Queryable, name: string): Promise<OperatorRow | null> {
  const { rows } = await tx.query<OperatorRow>(
    `with signed_out as (delete from operator_session where operator = $1),
     unlinked as (delete from sign_in_link where operator = $1)
     update operator set disabled_at = clock_timestamp() where name = $1 and disabled_at is null returning ${columns}`,
    [name],
  );
  return rows[0] ?? null;
}

/** @returns who has the credential, and null for a disabled operator or for nobody. */
export async function useCredential(db: Queryable, credentialHash: Buffer): Promise<Operator | null> {
  const { rows } = await db.query<Operator>(
    `update operator set last_used_at = clock_timestamp()
     where credential_hash = $1 and disabled_at is null returning name, role`,
    [credentialHash],
  );
  return rows[0] ?? null;
}

/**
 * Of an operator or a merchant's person, whether or not they may sign in: whoever tries a credential that was taken away is not nobody.
 * @returns null when it never was anybody's.
 */
export async function findCredentialOwner(db: Queryable, credentialHash: Buffer): Promise<Principal | null> {
  const { rows } = await db.query<Principal>(
    `select name, role, null as merchant_id from operator where credential_hash = $1
     union all select name, 'merchant', merchant_id from merchant_login where credential_hash = $1`,
    [credentialHash],
  );
  return rows[0] ?? null;
}

/** Signing in is no change of an account; it stands in the same audit. */
const signInActions = ['sign_in', 'use_sign_in_link', 'use_credential', 'refuse_sign_in'] as const;

export type SignInAction = (typeof signInActions)[number];

/** A few attempts of people whom nobody knows, once they are so old. With one more for each that is written down, the rest stays bounded. */
export async function forgetStrangers(db: Queryable): Promise<void> {
  await db.query(
    `delete from operator_audit where audit_id in (
       select audit_id from operator_audit
       where operator is null and at < clock_timestamp() - interval '90 days' order by at limit 10 for update skip locked)`,
  );
}

/** Call it in the transaction of the change. */
export async function insertOperatorAudit(
  tx: Queryable,
  entry: {
    /** Null where nobody is known whom it is about. */
    operator: string | null;
    action: 'add' | 'disable' | 'make_sign_in_link' | 'sign_out' | SignInAction;
    author: Author;
    before: object | null;
    after: object | null;
  },
): Promise<void> {
  await tx.query(
    `insert into operator_audit (operator, action, actor, reason, before, after) values ($1, $2, $3, $4, $5, $6)`,
    [entry.operator, entry.action, entry.author.actor, entry.author.reason, entry.before, entry.after],
  );
}

/**
 * Newest first.
 * @param page.before only older rows, to the millisecond; null for the newest.
 * @param page.only leaves out who signed in, or tried to.
 */
export async function readOperatorAudit(
  db: Queryable,
  { before, only }: { before: Date | null; only: 'changes' | null },
  limit: number,
): Promise<WithDates<OperatorChange, 'at'>[]> {
  const { rows } = await db.query<WithDates<OperatorChange, 'at'>>(
    `select at, operator, action, actor, reason, before, after from operator_audit
     where ($1::timestamptz is null or at < $1) and not (action = any ($3))
     order by at desc, audit_id limit $2`,
    [before, limit, only === 'changes' ? signInActions : []],
  );
  return rows;
}
