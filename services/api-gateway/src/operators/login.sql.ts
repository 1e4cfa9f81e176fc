import {
  SESSION_SECONDS,
  LOGINS_MAX,
  type MerchantLogin,
  SIGN_IN_LINK_SECONDS,
} from '@quittance/contracts/http/api-gateway/people.ts';
import type { MerchantPerson, MerchantRole } from '@quittance/contracts/principal.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { WithDates } from '@quittance/runtime/time.ts';
import { isOpen, type NewSession, type SessionPasskeys } from './operator.sql.ts';

type MerchantLoginRow = WithDates<MerchantLogin, 'created_at' | 'last_used_at' | 'disabled_at'>;

const columns = 'name, role, created_at, last_used_at, disabled_at';
const person = `l.name, 'merchant' as role, l.merchant_id, l.role as merchant_role`;

/** A login `l` that is not disabled, of a merchant `m` that is not blocked. */
const mayEnter = `l.disabled_at is null and m.merchant_id = l.merchant_id and m.status = 'active'`;

/**
 * Adds a person. The lock on the merchant's row keeps concurrent additions within the limit.
 * @returns `enabled` for a disabled person who may sign in again; any other outcome says why nobody was added.
 */
export async function addLogin(
  tx: Queryable,
  {
    merchantId,
    name,
    role,
    credentialHash,
  }: { merchantId: string; name: string; role: MerchantRole; credentialHash: Buffer },
): Promise<'added' | 'enabled' | 'unknown_merchant' | 'name_taken' | 'too_many'> {
  const { rowCount } = await tx.query('select from merchant where merchant_id = $1 for no key update', [merchantId]);
  if (rowCount === 0) return 'unknown_merchant';
  const { rows } = await tx.query<{ name: string; works: boolean }>(
    'select name, disabled_at is null as works from merchant_login where merchant_id = $1',
    [merchantId],
  );
  const known = rows.find((row) => row.name === name);
  if (known?.works) return 'name_taken';
  if (rows.filter(({ works }) => works).length >= LOGINS_MAX) return 'too_many';
  await tx.query(
    `insert into merchant_login (merchant_id, name, role, credential_hash) values ($1, $2, $3, $4)
     on conflict (merchant_id, name) do update
       set credential_hash = excluded.credential_hash, role = excluded.role, last_used_at = null, disabled_at = null`,
    [merchantId, name, role, credentialHash],
  );
  return known === undefined ? 'added' : 'enabled';
}

export async function listLogins(db: Queryable, merchantId: string, limit: number): Promise<MerchantLoginRow[]> {
  const { rows } = await db.query<MerchantLoginRow>(
    `select ${columns} from merchant_login where merchant_id = $1 order by disabled_at is not null, name limit $2`,
    [merchantId, limit],
  );
  return rows;
}

/** Also ends the person's sessions and links. @returns null if no active login of the merchant has the name. */
export async function disableLogin(tx: Queryable, merchantId: string, name: string): Promise<MerchantLoginRow | null> {
  const { rows } = await tx.query<MerchantLoginRow>(
    `with signed_out as (delete from operator_session where merchant_id = $1 and login = $2),
     unlinked as (delete from sign_in_link where merchant_id = $1 and login = $2)
     update merchant_login set disabled_at = clock_timestamp()
     where merchant_id = $1 and name = $2 and disabled_at is null returning ${columns}`,
    [merchantId, name],
  );
  return rows[0] ?? null;
}

/** @returns the person with this credential, or null for an unknown credential, a disabled person or a blocked merchant. */
export async function useLoginCredential(db: Queryable, credentialHash: Buffer): Promise<MerchantPerson | null> {
  const { rows } = await db.query<MerchantPerson>(
    `update merchant_login l set last_used_at = clock_timestamp() from merchant m
     where l.credential_hash = $1 and ${mayEnter} returning ${person}`,
    [credentialHash],
  );
  return rows[0] ?? null;
}

/** Starts a session, and deletes the person's ended ones. */
export async function insertLoginSession(
  db: Queryable,
  { merchant_id: merchantId, name }: MerchantPerson,
  { sessionHash, hasPasskey, client, userAgent }: NewSession,
): Promise<void> {
  await db.query(
    `with over as (delete from operator_session s where merchant_id = $1 and login = $2 and not (${isOpen}))
     insert into operator_session (session_hash, merchant_id, login, has_passkey, client, user_agent, ends_at)
     values ($3, $1, $2, $4, $5, $6, clock_timestamp() + interval '${SESSION_SECONDS} seconds')`,
    [merchantId, name, sessionHash, hasPasskey, client, userAgent],
  );
}

/** @returns the person, or null once the session has ended. While the merchant is blocked the session is refused but stays open. */
export async function useLoginSession(
  db: Queryable,
  sessionHash: Buffer,
): Promise<(MerchantPerson & SessionPasskeys) | null> {
  const { rows } = await db.query<MerchantPerson & SessionPasskeys>(
    `update operator_session s set last_seen_at = clock_timestamp() from merchant_login l, merchant m
     where s.session_hash = $1 and ${isOpen} and l.merchant_id = s.merchant_id and l.name = s.login and ${mayEnter}
     returning ${person}, s.has_passkey as "hasPasskey",
       (select count(*)::integer from passkey k where k.merchant_id = l.merchant_id and k.login = l.name) as passkeys`,
    [sessionHash],
  );
  return rows[0] ?? null;
}

/** Adds a link for a person who may sign in, and deletes the person's expired ones. @returns the link's end and the person's role, or null if no such person may sign in. */
export async function insertLoginLink(
  tx: Queryable,
  {
    merchantId,
    name,
    linkHash,
    seconds = SIGN_IN_LINK_SECONDS,
  }: { merchantId: string; name: string; linkHash: Buffer; seconds?: number },
): Promise<{ ends_at: Date; role: MerchantRole } | null> {
  const { rows } = await tx.query<{ ends_at: Date; role: MerchantRole }>(
    `with person as (
       select l.merchant_id, l.name, l.role from merchant_login l, merchant m
       where l.merchant_id = $1 and l.name = $2 and ${mayEnter} for update of l
     ),
     over as (delete from sign_in_link where merchant_id = $1 and login = $2 and ends_at <= clock_timestamp()),
     made as (
       insert into sign_in_link (link_hash, merchant_id, login, ends_at)
       select $3, merchant_id, name, clock_timestamp() + $4 * interval '1 second' from person
       returning ends_at
     )
     select ends_at, role from made, person`,
    [merchantId, name, linkHash, seconds],
  );
  return rows[0] ?? null;
}

/** In open sessions too. @returns the role before and the login, or null if no active login of the merchant has the name. */
export async function setLoginRole(
  tx: Queryable,
  { merchantId, name, role }: { merchantId: string; name: string; role: MerchantRole },
): Promise<{ before: MerchantRole; login: MerchantLoginRow } | null> {
  const { rows } = await tx.query<MerchantLoginRow & { before: MerchantRole }>(
    `with old as (
       select role from merchant_login where merchant_id = $1 and name = $2 and disabled_at is null for update
     )
     update merchant_login l set role = $3 from old
     where l.merchant_id = $1 and l.name = $2 returning l.name, l.role, l.created_at, l.last_used_at, l.disabled_at, old.role as before`,
    [merchantId, name, role],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const { before, ...login } = row;
  return { before, login };
}

/** Uses the link of a merchant's person. @returns the person, or null if the link has expired, was used, or its person may not sign in. */
export async function takeLoginLink(tx: Queryable, linkHash: Buffer): Promise<MerchantPerson | null> {
  const { rows } = await tx.query<MerchantPerson>(
    `with taken as (
       delete from sign_in_link where link_hash = $1 and login is not null and ends_at > clock_timestamp()
       returning merchant_id, login
     )
     select ${person} from taken
       join merchant_login l on l.merchant_id = taken.merchant_id and l.name = taken.login
       join merchant m on ${mayEnter}`,
    [linkHash],
  );
  return rows[0] ?? null;
}
