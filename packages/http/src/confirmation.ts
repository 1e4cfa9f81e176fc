import { createHash } from 'node:crypto';
import type { Principal } from '@quittance/contracts/principal.ts';
import { HttpError } from './errors.ts';

/** The code of the answer to a request that its person has to confirm first. */
export const CONFIRMATION_NEEDED = 'confirmation_needed';

/**
 * What a person confirms with a passkey: one request, with everything in it. A confirmation of one request is worth
 * nothing for another.
 * @param path without the query.
 * @param body the text of the JSON, empty without one.
 * @returns SHA-256 in base64url.
 */
export const requestHash = (method: string, path: string, body: string | Buffer): string =>
  createHash('sha256').update(`${method} ${path}\n`).update(body).digest('base64url');

/**
 * People who use a console confirm what touches money, keys or people. A token that was issued for a credential has no
 * console, and a merchant's person always has one.
 * @throws HttpError 403.
 */
export function requireConfirmation(
  person: Principal,
  { method, path }: { method: string; path: string },
  body: Buffer,
): void {
  if (person.role !== 'merchant' && person.console !== true) return;
  if (person.confirms === requestHash(method, path, body)) return;
  throw new HttpError(403, 'Confirm this with your passkey', {}, { code: CONFIRMATION_NEEDED });
}
