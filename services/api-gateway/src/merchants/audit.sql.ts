import type { Author } from '@quittance/contracts/author.ts';
import type { AuditEntry } from '@quittance/contracts/http/audit.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { WithDates } from '@quittance/runtime/time.ts';
import type { Change } from './merchant.sql.ts';
import type { AccountAction, SignInAction } from '../operators/operator.sql.ts';

/** The merchant itself does `rotate_api_key`, which rotateApiKey() audits, and may do `set_profile`. */
export type AuditedAction =
  | 'register'
  | 'block'
  | 'unblock'
  | 'replace_credentials'
  | 'rotate_api_key'
  | 'add_api_key'
  | 'revoke_api_key'
  | 'set_profile'
  | 'set_creation_rate'
  | 'add_login'
  | 'disable_login'
  | 'set_login_role'
  | AccountAction
  | 'make_sign_in_link'
  | SignInAction
  | 'test_webhook'
  // By a merchant's person at the console.
  | 'create_payment'
  | 'cancel_payment'
  | 'accept_transfer'
  | 'retry_event'
  | 'set_webhook'
  | 'rotate_webhook_key'
  | 'put_wallet_pool'
  | 'release_rest';

type AuditRow = WithDates<AuditEntry, 'at'>;

/** Call it in the transaction of the change. */
export async function insertAudit(
  tx: Queryable,
  entry: { merchantId: string; action: AuditedAction; author: Author; change: Change },
): Promise<void> {
  const { merchantId, action, author, change } = entry;
  await tx.query(
    `insert into merchant_audit (merchant_id, action, actor, reason, before, after) values ($1, $2, $3, $4, $5, $6)`,
    [
      merchantId,
      action,
      author.actor,
      author.reason,
      change.before === null ? null : JSON.stringify(change.before),
      JSON.stringify(change.after),
    ],
  );
}

/** Newest first. @param before only older rows, to the millisecond; null for the newest. */
export async function readAudit(
  db: Queryable,
  merchantId: string,
  before: Date | null,
  limit: number,
): Promise<AuditRow[]> {
  const { rows } = await db.query<AuditRow>(
    `select at, action, actor, reason, before, after from merchant_audit
     where merchant_id = $1 and ($2::timestamptz is null or at < $2)
     order by at desc, audit_id limit $3`,
    [merchantId, before, limit],
  );
  return rows;
}
