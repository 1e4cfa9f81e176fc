import type { SessionState } from '@quittance/contracts/http/api-gateway/people.ts';
import { isMerchantPerson, type Principal } from '@quittance/contracts/principal.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { useLoginSession } from './login.sql.ts';
import { useSession, type SessionPasskeys } from './operator.sql.ts';
import type { People } from './sign-in.ts';

/** The person of a session with the role of the account, and what the session is worth. */
export type SessionPerson = Principal & SessionPasskeys;

/** @returns null once the session has ended, or for a person who may no longer sign in. */
export const useAnySession = async (db: Queryable, sessionHash: Buffer): Promise<SessionPerson | null> =>
  (await useSession(db, sessionHash)) ?? (await useLoginSession(db, sessionHash));

/**
 * What the person may do in this session. Without a passkey, only look: a stolen credential, link or cookie
 * changes nothing. An operator's console without passkeys is as before; a merchant's people need them.
 */
export function principalOf(person: SessionPerson, { webauthn }: Pick<People, 'webauthn'>): Principal {
  const { name } = person;
  const isProven = webauthn !== null && person.hasPasskey;
  if (isMerchantPerson(person)) {
    const { merchant_id, merchant_role: role } = person;
    return { name, role: 'merchant', merchant_id, merchant_role: isProven ? role : 'viewer', console: true };
  }
  if (webauthn === null) return { name, role: person.role };
  return { name, role: isProven ? person.role : 'viewer', console: true };
}

export const stateOf = (person: SessionPerson, { webauthn }: Pick<People, 'webauthn'>): Required<SessionState> => ({
  account_role: isMerchantPerson(person) ? person.merchant_role : person.role,
  passkeys: webauthn === null ? null : person.passkeys,
});
