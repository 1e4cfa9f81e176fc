import { CHALLENGE_SECONDS, type Passkey, type PersonSession } from '@quittance/contracts/http/api-gateway/passkeys.ts';
import { isMerchantPerson, type Principal } from '@quittance/contracts/principal.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { WithDates } from '@quittance/runtime/time.ts';
import { isOpen } from './operator.sql.ts';

/** A person as the tables name one: as an operator, or as a login of a merchant. */
type Owner = readonly [operator: string | null, merchantId: string | null, login: string | null];

const ownerOf = (person: Principal): Owner =>
  isMerchantPerson(person) ? [null, person.merchant_id, person.name] : [person.name, null, null];

/** For the first three parameters of a statement. */
const isOwned = '(operator = $1 or (merchant_id = $2 and login = $3))';

/** A credential id as browsers write it, in base64url. */
const idText = `rtrim(translate(encode(credential_id, 'base64'), E'+/\\n', '-_'), '=')`;

const bytesOf = (id: string): Buffer => Buffer.from(id, 'base64url');

type PasskeyRow = WithDates<Passkey, 'created_at' | 'last_used_at'>;

const columns = `${idText} as id, name, created_at, last_used_at`;

export async function listPasskeys(
  db: Queryable,
  person: Principal,
): Promise<(PasskeyRow & { transports: string[] })[]> {
  const { rows } = await db.query<PasskeyRow & { transports: string[] }>(
    `select ${columns}, transports from passkey where ${isOwned} order by created_at, credential_id`,
    [...ownerOf(person)],
  );
  return rows;
}

/** What verifies a passkey's signature. */
export type StoredPasskey = { id: string; publicKey: Buffer; counter: number; transports: string[] };

/** @returns null if somebody has this passkey already. */
export async function insertPasskey(
  tx: Queryable,
  person: Principal,
  { id, publicKey, counter, transports, name }: StoredPasskey & { name: string },
): Promise<PasskeyRow | null> {
  const { rows } = await tx.query<PasskeyRow>(
    `insert into passkey (operator, merchant_id, login, credential_id, public_key, counter, transports, name)
     values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (credential_id) do nothing returning ${columns}`,
    [...ownerOf(person), bytesOf(id), publicKey, counter, transports, name],
  );
  return rows[0] ?? null;
}

/** The passkey with its owner, whatever the owner may do. The lock makes its counter exact. */
export async function findPasskey(
  tx: Queryable,
  id: string,
): Promise<{ passkey: StoredPasskey; owner: Principal; isEnabled: boolean } | null> {
  const { rows } = await tx.query<{
    public_key: Buffer;
    counter: string;
    transports: string[];
    owner: Principal;
    is_enabled: boolean;
  }>(
    `select k.public_key, k.counter, k.transports,
            case when k.operator is not null then jsonb_build_object('name', o.name, 'role', o.role)
                 else jsonb_build_object('name', l.name, 'role', 'merchant', 'merchant_id', l.merchant_id, 'merchant_role', l.role)
            end as owner,
            case when k.operator is not null then o.disabled_at is null
                 else l.disabled_at is null and m.status = 'active' end as is_enabled
     from passkey k
       left join operator o on o.name = k.operator
       left join merchant_login l on l.merchant_id = k.merchant_id and l.name = k.login
       left join merchant m on m.merchant_id = l.merchant_id
     where k.credential_id = $1 for update of k`,
    [bytesOf(id)],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const { public_key: publicKey, counter, transports, owner, is_enabled: isEnabled } = row;
  return { passkey: { id, publicKey, counter: Number(counter), transports }, owner, isEnabled };
}

export async function usePasskey(tx: Queryable, id: string, counter: number): Promise<void> {
  await tx.query('update passkey set counter = $2, last_used_at = clock_timestamp() where credential_id = $1', [
    bytesOf(id),
    counter,
  ]);
}

export async function deletePasskey(tx: Queryable, person: Principal, id: string): Promise<PasskeyRow | null> {
  const { rows } = await tx.query<PasskeyRow>(
    `delete from passkey where ${isOwned} and credential_id = $4 returning ${columns}`,
    [...ownerOf(person), bytesOf(id)],
  );
  return rows[0] ?? null;
}

/**
 * Removes all passkeys of a person, and ends the sessions, which may be somebody else's.
 * @returns how many passkeys there were, or null if nobody who may sign in has the name.
 */
export async function deletePasskeys(tx: Queryable, person: Principal): Promise<number | null> {
  const owner = [...ownerOf(person)];
  const { rowCount: found } = await tx.query(
    isMerchantPerson(person)
      ? `select from merchant_login where merchant_id = $2 and name = $3 and disabled_at is null and $1::text is null for update`
      : `select from operator where name = $1 and disabled_at is null and num_nonnulls($2::text, $3::text) = 0 for update`,
    owner,
  );
  if (found === 0) return null;
  await tx.query(`delete from operator_session where ${isOwned}`, owner);
  const { rowCount } = await tx.query(`delete from passkey where ${isOwned}`, owner);
  return rowCount ?? 0;
}

type Challenge = {
  challenge: string;
  /** SHA-256 of the session's secret; null before anybody has signed in. */
  sessionHash: Buffer | null;
  /** The request that the signature confirms; null for none. */
  requestHash: string | null;
};

/** Deletes a few old ones too, so that their number stays bounded. */
export async function insertChallenge(
  db: Queryable,
  { challenge, sessionHash, requestHash }: Challenge,
): Promise<void> {
  await db.query(
    `with over as (
       delete from passkey_challenge where challenge in (
         select challenge from passkey_challenge where ends_at <= clock_timestamp() limit 20 for update skip locked)
     )
     insert into passkey_challenge (challenge, session_hash, request_hash, ends_at)
     values ($1, $2, $3, clock_timestamp() + interval '${CHALLENGE_SECONDS} seconds')`,
    [challenge, sessionHash, requestHash],
  );
}

/** Uses a challenge up. @returns whether it was open, and for this session and this request. */
export async function takeChallenge(
  tx: Queryable,
  { challenge, sessionHash, requestHash }: Challenge,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `delete from passkey_challenge where challenge = $1 and ends_at > clock_timestamp()
       and session_hash is not distinct from $2 and request_hash is not distinct from $3`,
    [challenge, sessionHash, requestHash],
  );
  return rowCount === 1;
}

/** From now on the session has the person's own role. */
export async function setHasPasskey(tx: Queryable, sessionHash: Buffer): Promise<void> {
  await tx.query('update operator_session set has_passkey = true where session_hash = $1', [sessionHash]);
}

type SessionRow = WithDates<PersonSession, 'created_at' | 'last_seen_at'>;

/** The first half of the hash of its secret names a session: nothing is opened with it. */
const sessionId = `encode(substring(session_hash from 1 for 8), 'hex')`;

/** The open sessions of a person, the newest first. */
export async function listSessions(db: Queryable, person: Principal, sessionHash: Buffer): Promise<SessionRow[]> {
  const { rows } = await db.query<SessionRow>(
    `select ${sessionId} as id, session_hash = $4 as current, created_at, last_seen_at, client, user_agent, has_passkey
     from operator_session s where ${isOwned} and ${isOpen} order by last_seen_at desc limit 100`,
    [...ownerOf(person), sessionHash],
  );
  return rows;
}

export async function deleteSession(tx: Queryable, person: Principal, id: string): Promise<number> {
  const { rowCount } = await tx.query(`delete from operator_session where ${isOwned} and ${sessionId} = $4`, [
    ...ownerOf(person),
    id,
  ]);
  return rowCount ?? 0;
}
