import type { Author } from '@quittance/contracts/author.ts';
import type { ConsoleAudience, OpenedSession, SignInPlace } from '@quittance/contracts/http/api-gateway/people.ts';
import { newSecret, sha256 } from '@quittance/contracts/ids.ts';
import { type Operator, actorOf, isMerchantPerson, type Principal } from '@quittance/contracts/principal.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { clientBlock } from '@quittance/http/server/client-address.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transact } from '@quittance/postgres/transaction.ts';
import type { Trust } from '@quittance/runtime/trust.ts';
import { addCounts, type RateLimit } from '../limits/admission.sql.ts';
import { insertAudit } from '../merchants/audit.sql.ts';
import { insertLoginSession } from './login.sql.ts';
import {
  forgetStrangers,
  insertOperatorAudit,
  insertSession,
  type AccountAction,
  type SignInAction,
} from './operator.sql.ts';
import type { Webauthn } from './webauthn.ts';

/** What the accounts of people need. */
export type People = {
  db: Queryable;
  transact: Transact;
  trust: Trust;
  /** Null while CONSOLE_RP_ID is not set. */
  webauthn: Webauthn | null;
};

/** Per client address. Each audience has its own limit, so that no merchant locks operators out of their console. */
const signIns: Record<ConsoleAudience, RateLimit> = {
  everyone: { scope: 'operator_sign_in', limit: 10, windowSeconds: 60 },
  merchants: { scope: 'merchant_sign_in', limit: 10, windowSeconds: 60 },
};

/**
 * Signs a person in at a console, with a credential or a link.
 * @param secret.use returns the person that the secret signs in, or null.
 * @param secret.ownerOf returns the secret's owner even if the owner may not sign in; null if the owner is unknown.
 * @param secret.refusal the text of the 401.
 * @throws HttpError 401, 429.
 */
export async function openSession(
  { db, transact }: { db: Queryable; transact: Transact },
  place: SignInPlace,
  secret: {
    action: 'sign_in' | 'use_sign_in_link' | 'use_passkey';
    hasPasskey?: boolean;
    use: (tx: Queryable) => Promise<Principal | null>;
    ownerOf: (tx: Queryable) => Promise<Principal | null>;
    refusal: string;
  },
): Promise<OpenedSession> {
  const { client, audience = 'everyone', user_agent: userAgent = null } = place;
  await countSignIn(db, place, 'end');
  const session = newSecret('qs');
  const begun = { sessionHash: sha256(session), hasPasskey: secret.hasPasskey ?? false, client, userAgent };
  const door = { client, at: audience, userAgent };
  try {
    // One transaction, so that an account that is disabled meanwhile keeps no session.
    const person = await transact(async (tx) => {
      const found = await secret.use(tx);
      // Operators cannot sign in at the merchants' console. The answer is the same as for a wrong credential.
      if (found === null || (audience === 'merchants' && !isMerchantPerson(found))) throw new Refused(found);
      if (isMerchantPerson(found)) await insertLoginSession(tx, found, begun);
      else await insertSession(tx, found.name, begun);
      await audit(tx, found, { action: secret.action, actor: actorOf(found), door });
      return found;
    });
    return { ...person, session };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    await transact(async (tx) => auditRefusal(tx, error.owner ?? (await secret.ownerOf(tx)), door));
    throw new HttpError(401, secret.refusal);
  }
}

/** Rolls the transaction back, so that a refused link is not used up. */
class Refused extends Error {
  readonly owner: Principal | null;
  constructor(owner: Principal | null) {
    super('refused');
    this.owner = owner;
  }
}

/** Where a person signs in: at one of the consoles, or with `ops`. */
type SignInDoor = { client: string; at: ConsoleAudience | 'ops'; userAgent?: string | null };

const doorTexts: Record<SignInDoor['at'], string> = {
  everyone: '',
  merchants: ", at the merchants' console",
  ops: ', with ops',
};

/** Audited refusals per door. Any client can try, from any number of addresses: later refusals are not audited. */
const auditedRefusals: RateLimit = { scope: 'sign_in_refusals', limit: 60, windowSeconds: 3600 };

/** Operators' programs ask for a token every few minutes: one row an hour for each address. */
const auditedTokens: RateLimit = { scope: 'operator_tokens', limit: 1, windowSeconds: 3600 };

/** @param owner the person whose secret was tried, although it signs nobody in; null if it is nobody's. */
export async function auditRefusal(tx: Queryable, owner: Principal | null, door: SignInDoor): Promise<void> {
  if ((await excess(tx, auditedRefusals, door.at)) !== null) return;
  await forgetStrangers(tx);
  await audit(tx, owner, { action: 'refuse_sign_in', actor: 'nobody', door });
}

export async function auditToken(db: Queryable, operator: Operator, client: string): Promise<void> {
  const subject = sha256(`${operator.name} ${clientBlock(client)}`).toString('hex');
  if ((await excess(db, auditedTokens, subject)) !== null) return;
  await audit(db, operator, { action: 'use_credential', actor: actorOf(operator), door: { client, at: 'ops' } });
}

/** Writes to the audit log of the person's merchant, or to that of the operators. */
async function audit(
  tx: Queryable,
  person: Principal | null,
  { action, actor, door }: { action: SignInAction; actor: string; door: SignInDoor },
): Promise<void> {
  const browser = door.userAgent === null || door.userAgent === undefined ? '' : `, with ${door.userAgent}`;
  const author = { actor, reason: `from ${door.client}${doorTexts[door.at]}${browser}` };
  if (person === null) return insertOperatorAudit(tx, { operator: null, action, author });
  await writeAudit(tx, person, action, author);
}

async function writeAudit(
  tx: Queryable,
  person: Principal,
  action: SignInAction | AccountAction,
  author: Author,
): Promise<void> {
  if (!isMerchantPerson(person)) return insertOperatorAudit(tx, { operator: person.name, action, author });
  const change = { before: null, after: { name: person.name } };
  await insertAudit(tx, { merchantId: person.merchant_id, action, author, change });
}

/** What people do to their own accounts. */
export const auditOwn = (
  tx: Queryable,
  person: Principal,
  action: SignInAction | AccountAction,
  reason: string,
): Promise<void> => writeAudit(tx, person, action, { actor: actorOf(person), reason });

/**
 * Counts an attempt, of an address at one of the consoles. A sign-in with a passkey begins with a request of its own.
 * @throws HttpError 429.
 */
export async function countSignIn(
  db: Queryable,
  { client, audience = 'everyone' }: SignInPlace,
  step: 'start' | 'end',
): Promise<void> {
  const { scope, ...limit } = signIns[audience];
  const counter = { ...limit, scope: step === 'start' ? `${scope}_start` : scope };
  const address = sha256(clientBlock(client)).toString('hex');
  await countOrRefuse(db, counter, address, 'Too many attempts to sign in');
}

/** @throws HttpError 429. */
export async function countOrRefuse(db: Queryable, limit: RateLimit, subject: string, refusal: string): Promise<void> {
  const over = await excess(db, limit, subject);
  if (over !== null) throw new HttpError(429, refusal, { 'retry-after': String(over.seconds_left) });
}

/** Counts one more of this subject. @returns null within the limit. */
async function excess(db: Queryable, { scope, limit, windowSeconds }: RateLimit, subject: string) {
  const [counted] = await addCounts(db, [{ scope, subject, windowSeconds, requests: 1 }]);
  return counted === undefined || counted.count <= limit ? null : counted;
}
