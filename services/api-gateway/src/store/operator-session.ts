import { SESSION_IDLE_SECONDS, SESSION_SECONDS } from '@quittance/contracts/http/api-gateway/operator-sessions.ts';
import type { Operator } from '@quittance/contracts/operator.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';

const isOpen = `s.ends_at > clock_timestamp() and s.last_seen_at > clock_timestamp() - interval '${SESSION_IDLE_SECONDS} seconds'`;

/** Begins a session, and forgets those of the operator that are over. */
export async function insertSession(db: Queryable, operator: string, sessionHash: Buffer): Promise<void> {
  await db.query(
    `with over as (delete from operator_session s where operator = $1 and not (${isOpen}))
     insert into operator_session (session_hash, operator, ends_at)
     values ($2, $1, clock_timestamp() + interval '${SESSION_SECONDS} seconds')`,
    [operator, sessionHash],
  );
}

/** @returns who is signed in, and null once the session is over or its operator disabled. */
export async function useSession(db: Queryable, sessionHash: Buffer): Promise<Operator | null> {
  const { rows } = await db.query<Operator>(
    `update operator_session s set last_seen_at = clock_timestamp()
     from operator o
     where s.session_hash = $1 and ${isOpen} and o.name = s.operator and o.disabled_at is null
     returning o.name, o.role`,
    [sessionHash],
  );
  return rows[0] ?? null;
}

/** Of an operator or of a merchant's person. @returns how many ended. */
export async function deleteSessions(db: Queryable, sessionHash: Buffer, everywhere: boolean): Promise<number> {
  const { rowCount } = await db.query(
    `delete from operator_session where session_hash = $1
       or ($2 and operator = (select operator from operator_session where session_hash = $1))
       or ($2 and (merchant_id, login) = (select merchant_id, login from operator_session where session_hash = $1))`,
    [sessionHash, everywhere],
  );
  return rowCount ?? 0;
}

/** Takes the operator's links back as well. @returns how many sessions ended, and null when no operator has the name. */
export async function signOutOperator(tx: Queryable, name: string): Promise<number | null> {
  const { rows } = await tx.query<{ closed: number }>(
    `with unlinked as (delete from sign_in_link where operator = $1),
     closed as (delete from operator_session where operator = $1 returning 1)
     select (select count(*) from closed)::integer as closed from operator where name = $1`,
    [name],
  );
  return rows[0]?.closed ?? null;
}
