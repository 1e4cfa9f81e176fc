import type { OpenedSession, SignInPlace } from '@quittance/contracts/http/api-gateway/operator-sessions.ts';
import { newSecret, sha256 } from '@quittance/contracts/ids.ts';
import { isMerchantPerson, type Principal } from '@quittance/contracts/principal.ts';
import { HttpError } from '@quittance/http/errors.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { insertLoginSession } from '../store/merchant-login.ts';
import { insertSession } from '../store/operator-session.ts';
import { countSignIn } from './attempts.ts';
import { auditRefusal, auditSignIn } from './audit.ts';

type Dependencies = {
  db: Queryable;
  inTransaction: <T>(run: (tx: Transaction) => Promise<T>) => Promise<T>;
};

/**
 * Signs somebody in at a console, by a credential or a link.
 * @param secret.use whose it is, and null where nobody may sign in with it.
 * @param secret.ownerOf whose it is even if it lets nobody in, where that is known.
 * @param secret.refusal says so to whoever has tried it.
 * @throws HttpError 401, 429.
 */
export async function openSession(
  { db, inTransaction }: Dependencies,
  { client, audience = 'everyone' }: SignInPlace,
  secret: {
    action: 'sign_in' | 'use_sign_in_link';
    use: (tx: Queryable) => Promise<Principal | null>;
    ownerOf: (tx: Queryable) => Promise<Principal | null>;
    refusal: string;
  },
): Promise<OpenedSession> {
  await countSignIn(db, audience, client);
  const session = newSecret('qs');
  const door = { client, at: audience };
  try {
    // Together, so that an account which is disabled meanwhile leaves no session behind that it would come back to.
    const person = await inTransaction(async (tx) => {
      const found = await secret.use(tx);
      // Operators do not sign in where merchants do, and whoever tries is told nothing of the credential.
      if (found === null || (audience === 'merchants' && !isMerchantPerson(found))) throw new Refused(found);
      await begin(tx, found, sha256(session));
      await auditSignIn(tx, found, secret.action, door);
      return found;
    });
    return { ...person, session };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    await inTransaction(async (tx) => auditRefusal(tx, error.owner ?? (await secret.ownerOf(tx)), door));
    throw new HttpError(401, secret.refusal);
  }
}

/** Takes back what was done until then: a link that lets nobody in now is not used up. */
class Refused extends Error {
  readonly owner: Principal | null;
  constructor(owner: Principal | null) {
    super('refused');
    this.owner = owner;
  }
}

const begin = (tx: Queryable, person: Principal, sessionHash: Buffer): Promise<void> =>
  isMerchantPerson(person) ? insertLoginSession(tx, person, sessionHash) : insertSession(tx, person.name, sessionHash);
