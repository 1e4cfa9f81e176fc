import type { ConsoleAudience } from '@quittance/contracts/http/api-gateway/operator-sessions.ts';
import { sha256 } from '@quittance/contracts/ids.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { clientBlock } from '@quittance/http/server/client-address.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { addCounts, type RateLimit } from '../store/rate-limit-window.ts';

/** For each address from which people sign in. Apart for each audience, so that nobody at the merchants' console locks operators out of theirs. */
const signIns: Record<ConsoleAudience, RateLimit> = {
  everyone: { scope: 'operator_sign_in', limit: 10, windowSeconds: 60 },
  merchants: { scope: 'merchant_sign_in', limit: 10, windowSeconds: 60 },
};

/** @throws HttpError 429 after too many attempts from this address at consoles of this audience. */
export const countSignIn = (db: Queryable, audience: ConsoleAudience, client: string): Promise<void> =>
  countOrRefuse(db, signIns[audience], sha256(clientBlock(client)).toString('hex'), 'Too many attempts to sign in');

/** @throws HttpError 429. */
export async function countOrRefuse(
  db: Queryable,
  { scope, limit, windowSeconds }: RateLimit,
  subject: string,
  refusal: string,
): Promise<void> {
  const [counted] = await addCounts(db, [{ scope, subject, windowSeconds, requests: 1 }]);
  if (counted === undefined || counted.count <= limit) return;
  throw new HttpError(429, refusal, { 'retry-after': String(counted.seconds_left) });
}
