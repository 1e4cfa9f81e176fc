import type { Author } from '@quittance/contracts/author.ts';
import type { OperatorAccount, OperatorChange } from '@quittance/contracts/http/api-gateway/operators.ts';
import type { Operator, OperatorRole } from '@quittance/contracts/operator.ts';
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

/** Call it in the transaction of the change. */
export async function insertOperatorAudit(
  tx: Queryable,
  entry: {
    operator: string;
    action: 'add' | 'disable' | 'make_sign_in_link' | 'use_sign_in_link' | 'sign_out';
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

/** Newest first. @param before only older rows, to the millisecond; null for the newest. */
export async function readOperatorAudit(
  db: Queryable,
  before: Date | null,
  limit: number,
): Promise<WithDates<OperatorChange, 'at'>[]> {
  const { rows } = await db.query<WithDates<OperatorChange, 'at'>>(
    `select at, operator, action, actor, reason, before, after from operator_audit
     where $1::timestamptz is null or at < $1 order by at desc, audit_id limit $2`,
    [before, limit],
  );
  return rows;
}
