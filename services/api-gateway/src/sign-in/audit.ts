import type { ConsoleAudience } from '@quittance/contracts/http/api-gateway/operator-sessions.ts';
import { sha256 } from '@quittance/contracts/ids.ts';
import type { Operator } from '@quittance/contracts/operator.ts';
import { actorOf, isMerchantPerson, type Principal } from '@quittance/contracts/principal.ts';
import { clientBlock } from '@quittance/http/server/client-address.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { insertAudit } from '../store/audit.ts';
import { forgetStrangers, insertOperatorAudit, type SignInAction } from '../store/operator.ts';
import { addCounts, type RateLimit } from '../store/rate-limit-window.ts';

/** Where somebody signs in: at one of the consoles, or with `ops`. */
export type SignInDoor = { client: string; at: ConsoleAudience | 'ops' };

/**
 * How many refusals are written down in an hour, for each door. Anybody can try, from any number of addresses: attempts beyond that are
 * refused like the others, and leave no row.
 */
const writtenRefusals: RateLimit = { scope: 'sign_in_refusals', limit: 60, windowSeconds: 3600 };

/** Programs of an operator ask for a token every few minutes: one row an hour for each address. */
const writtenTokens: RateLimit = { scope: 'operator_tokens', limit: 1, windowSeconds: 3600 };

/** Call it in the transaction that signs the person in. */
export const auditSignIn = (
  tx: Queryable,
  person: Principal,
  action: 'sign_in' | 'use_sign_in_link',
  door: SignInDoor,
): Promise<void> => insert(tx, person, { action, actor: actorOf(person), door });

/** @param owner whose secret was tried, though it lets nobody in; null when it is nobody's. */
export async function auditRefusal(tx: Queryable, owner: Principal | null, door: SignInDoor): Promise<void> {
  if (await isOver(tx, writtenRefusals, door.at)) return;
  await forgetStrangers(tx);
  await insert(tx, owner, { action: 'refuse_sign_in', actor: 'nobody', door });
}

export async function auditToken(db: Queryable, operator: Operator, client: string): Promise<void> {
  const subject = sha256(`${operator.name} ${clientBlock(client)}`).toString('hex');
  if (await isOver(db, writtenTokens, subject)) return;
  const door = { client, at: 'ops' as const };
  await insert(db, operator, { action: 'use_credential', actor: actorOf(operator), door });
}

async function isOver(db: Queryable, { scope, limit, windowSeconds }: RateLimit, subject: string): Promise<boolean> {
  const [counted] = await addCounts(db, [{ scope, subject, windowSeconds, requests: 1 }]);
  return counted !== undefined && counted.count > limit;
}

/** In the audit of whom it concerns: of a merchant, or of the operators. */
async function insert(
  tx: Queryable,
  person: Principal | null,
  { action, actor, door }: { action: SignInAction; actor: string; door: SignInDoor },
): Promise<void> {
  const author = { actor, reason: `from ${door.client}${doorTexts[door.at]}` };
  if (person === null || !isMerchantPerson(person))
    return insertOperatorAudit(tx, { operator: person?.name ?? null, action, author, before: null, after: null });
  const change = { before: null, after: { name: person.name } };
  await insertAudit(tx, { merchantId: person.merchant_id, action, author, change });
}

const doorTexts: Record<SignInDoor['at'], string> = {
  everyone: '',
  merchants: ", at the merchants' console",
  ops: ', with ops',
};
