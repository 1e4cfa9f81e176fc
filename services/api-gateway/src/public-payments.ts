import { sha256 } from '@quittance/contracts/ids.ts';
import type { PublicPayment } from '@quittance/contracts/payment.ts';
import { successBody, type OwnerAnswer, type Owners } from './clients.ts';

/** Hex SHA-256 of a public token: what counters and other services get to see of it. */
export const publicTokenHash = (token: string): string => sha256(token).toString('hex');

/**
 * Asks payments for what a public token reveals.
 * @returns null for a text that can be no token; nobody is asked about it.
 */
export async function askPublicPayment(owners: Owners, token: string): Promise<OwnerAnswer | null> {
  if (!/^[\w-]{43}$/.test(token)) return null;
  return owners.payments.request({ method: 'GET', path: `/internal/v1/public-payments/${publicTokenHash(token)}` });
}

/** The payment behind a public token, or null when there is none. @throws when payments cannot say. */
export async function findPublicPayment(owners: Owners, token: string): Promise<PublicPayment | null> {
  const answer = await askPublicPayment(owners, token);
  if (answer === null || answer.status === 404) return null;
  const body = successBody(answer);
  if (body === null) throw new Error(`payments answered ${answer.status} about a public token`);
  return body as PublicPayment;
}
