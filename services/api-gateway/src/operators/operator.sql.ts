import type { Author } from '@quittance/contracts/author.ts';
import {
  type OperatorAccount,
  type OperatorChange,
  SESSION_IDLE_SECONDS,
  SESSION_SECONDS,
  SIGN_IN_LINK_SECONDS,
} from '@quittance/contracts/http/api-gateway/people.ts';
import type { Operator, OperatorRole, Principal } from '@quittance/contracts/principal.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { WithDates } from '@quittance/runtime/time.ts';

type OperatorRow = WithDates<OperatorAccount, 'created_at' | 'last_used_at' | 'disabled_at'>;

const columns = 'name, role, created_at, last_used_at, disabled_at';

/** Adds an operator, or enables a disabled one again. @returns the disabled one's former role, `new` for a new name, null if an active operator has the name. */
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

/** Also ends the operator's sessions and links. @returns null if no active operator has the name. */
export async function disableOperator(tx: Queryable, name: string): Promise<OperatorRow | null> {
  const { rows } = await tx.query<OperatorRow>(
    `with signed_out as (delete from operator_session where operator = $1),
     unlinked as (delete from sign_in_link where operator = $1)
     update operator set disabled_at = clock_timestamp() where name = $1 and disabled_at is null returning ${columns}`,
    [name],
  );
  return rows[0] ?? null;
}

/** @returns the active operator with this credential, or null. */
export async function useCredential(db: Queryable, credentialHash: Buffer): Promise<Operator | null> {
  const { rows } = await db.query<Operator>(
    `update operator set last_used_at = clock_timestamp()
     where credential_hash = $1 and disabled_at is null returning name, role`,
    [credentialHash],
  );
  return rows[0] ?? null;
}

/**
 * The owner of a credential, an operator or a merchant's person, even if disabled: the audit log names the owner of a revoked credential.
 * @returns null for a credential that nobody ever had.
 */
export async function findCredentialOwner(db: Queryable, credentialHash: Buffer): Promise<Principal | null> {
  const { rows } = await db.query<Principal>(
    `select name, role, null as merchant_id from operator where credential_hash = $1
     union all select name, 'merchant', merchant_id from merchant_login where credential_hash = $1`,
    [credentialHash],
  );
  return rows[0] ?? null;
}

/** These change no account, but are in the same audit log. */
const signInActions = [
  'sign_in',
  'use_sign_in_link',
  'use_passkey',
  'use_credential',
  'refuse_sign_in',
  'sign_out',
  'end_session',
] as const;

export type SignInAction = (typeof signInActions)[number];

/** Changes of accounts that operators and merchants' people have in common. */
export type AccountAction = 'add_passkey' | 'remove_passkey' | 'reset_passkeys' | 'sign_out_everywhere';

/** Deletes a few old attempts by unknown people. Called for each new one, so their number stays bounded. */
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
    /** Null if it is about an unknown person. */
    operator: string | null;
    action: 'add' | 'disable' | 'make_sign_in_link' | AccountAction | SignInAction;
    author: Author;
    before?: object | null;
    after?: object | null;
  },
): Promise<void> {
  await tx.query(
    `insert into operator_audit (operator, action, actor, reason, before, after) values ($1, $2, $3, $4, $5, $6)`,
    [entry.operator, entry.action, entry.author.actor, entry.author.reason, entry.before ?? null, entry.after ?? null],
  );
}

/**
 * Newest first.
 * @param page.before only older rows, to the millisecond; null for the newest.
 * @param page.only `changes` leaves out sign-ins and attempts.
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

/** For a row `s` of `operator_session`. */
export const isOpen = `s.ends_at > clock_timestamp() and s.last_seen_at > clock_timestamp() - interval '${SESSION_IDLE_SECONDS} seconds'`;

/** A session that begins. */
export type NewSession = { sessionHash: Buffer; hasPasskey: boolean; client: string; userAgent: string | null };

/** Starts a session, and deletes the operator's ended ones. */
export async function insertSession(
  db: Queryable,
  operator: string,
  { sessionHash, hasPasskey, client, userAgent }: NewSession,
): Promise<void> {
  await db.query(
    `with over as (delete from operator_session s where operator = $1 and not (${isOpen}))
     insert into operator_session (session_hash, operator, has_passkey, client, user_agent, ends_at)
     values ($2, $1, $3, $4, $5, clock_timestamp() + interval '${SESSION_SECONDS} seconds')`,
    [operator, sessionHash, hasPasskey, client, userAgent],
  );
}

/** What a session's passkeys say. */
export type SessionPasskeys = {
  /** Whether a passkey has shown who uses the session. */
  hasPasskey: boolean;
  /** How many the account has. */
  passkeys: number;
};

/** @returns the operator, or null once the session has ended or the operator is disabled. */
export async function useSession(db: Queryable, sessionHash: Buffer): Promise<(Operator & SessionPasskeys) | null> {
  const { rows } = await db.query<Operator & SessionPasskeys>(
    `update operator_session s set last_seen_at = clock_timestamp()
     from operator o
     where s.session_hash = $1 and ${isOpen} and o.name = s.operator and o.disabled_at is null
     returning o.name, o.role, s.has_passkey as "hasPasskey",
       (select count(*)::integer from passkey k where k.operator = o.name) as passkeys`,
    [sessionHash],
  );
  return rows[0] ?? null;
}

/** Ends this session, or all of its person. @returns how many ended. */
export async function deleteSessions(db: Queryable, sessionHash: Buffer, everywhere: boolean): Promise<number> {
  const { rowCount } = await db.query(
    `delete from operator_session where session_hash = $1
       or ($2 and operator = (select operator from operator_session where session_hash = $1))
       or ($2 and (merchant_id, login) = (select merchant_id, login from operator_session where session_hash = $1))`,
    [sessionHash, everywhere],
  );
  return rowCount ?? 0;
}

/** Also deletes the operator's links. @returns how many sessions ended, or null if no operator has the name. */
export async function signOutOperator(tx: Queryable, name: string): Promise<number | null> {
  const { rows } = await tx.query<{ closed: number }>(
    `with unlinked as (delete from sign_in_link where operator = $1),
     closed as (delete from operator_session where operator = $1 returning 1)
     select (select count(*) from closed)::integer as closed from operator where name = $1`,
    [name],
  );
  return rows[0]?.closed ?? null;
}

/** Adds a link for an active operator, and deletes the operator's expired ones. @returns null if no active operator has the name. */
export async function insertOperatorLink(
  tx: Queryable,
  name: string,
  linkHash: Buffer,
): Promise<{ operator: Operator; endsAt: Date } | null> {
  const { rows } = await tx.query<Operator & { ends_at: Date }>(
    `with person as (select name, role from operator where name = $1 and disabled_at is null for update),
     over as (delete from sign_in_link where operator = $1 and ends_at <= clock_timestamp()),
     made as (
       insert into sign_in_link (link_hash, operator, ends_at)
       select $2, name, clock_timestamp() + interval '${SIGN_IN_LINK_SECONDS} seconds' from person
       returning ends_at
     )
     select name, role, ends_at from person, made`,
    [name, linkHash],
  );
  const [row] = rows;
  return row === undefined ? null : { operator: { name: row.name, role: row.role }, endsAt: row.ends_at };
}

/** Uses an operator's link. @returns the operator, or null if the link has expired, was used, or its operator may not sign in. */
export async function takeLink(tx: Queryable, linkHash: Buffer): Promise<Operator | null> {
  const { rows } = await tx.query<Operator>(
    `with taken as (
       delete from sign_in_link
       where link_hash = $1 and operator is not null and ends_at > clock_timestamp() returning operator
     )
     select o.name, o.role from taken join operator o on o.name = taken.operator and o.disabled_at is null`,
    [linkHash],
  );
  return rows[0] ?? null;
}
