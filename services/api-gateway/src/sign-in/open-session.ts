import type { OpenedSession, SignInPlace } from '@quittance/contracts/http/api-gateway/operator-sessions.ts';
import { newSecret, sha256 } from '@quittance/contracts/ids.ts';
import { isMerchantPerson, type Principal } from '@quittance/contracts/principal.ts';
import { HttpError } from '@quittance/http/errors.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { insertLoginSession } from '../store/merchant-login.ts';
import { insertSession } from '../store/operator-session.ts';
import { countSignIn } from './attempts.ts';

type Dependencies = {
  db: Queryable;
  inTransaction: <T>(run: (tx: Transaction) => Promise<T>) => Promise<T>;
};

/**
 * Signs somebody in at a console, by a credential or a link.
 * @param secret.use whose it is, and null where nobody may sign in with it.
 * @param secret.refusal says so to whoever has tried it.
 * @throws HttpError 401, 429.
 */
export async function openSession(
  { db, inTransaction }: Dependencies,
  { client, audience = 'everyone' }: SignInPlace,
  secret: {
    use: (tx: Queryable) => Promise<Principal | null>;
    audit: (tx: Queryable, person: Principal) => Promise<void>;
    refusal: string;
  },
): Promise<OpenedSession> {
  await countSignIn(db, audience, client);
  const session = newSecret('qs');
  // Together, so that an account which is disabled meanwhile leaves no session behind that it would come back to.
  const person = await inTransaction(async (tx) => {
    const found = await secret.use(tx);
    // Operators do not sign in where merchants do, and whoever tries is told nothing of the credential.
    if (found === null || (audience === 'merchants' && !isMerchantPerson(found))) return null;
    await begin(tx, found, sha256(session));
    await secret.audit(tx, found);
    return found;
  });
  if (person === null) throw new HttpError(401, secret.refusal);
  return { ...person, session };
}

const begin = (tx: Queryable, person: Principal, sessionHash: Buffer): Promise<void> =>
  isMerchantPerson(person) ? insertLoginSession(tx, person, sessionHash) : insertSession(tx, person.name, sessionHash);
