import { sha256 } from '@quittance/contracts/ids.ts';
import { headerValues } from '@quittance/http/header-values.ts';
import type { RouteRequest } from '@quittance/http/server/route.ts';

const CREDENTIAL_MAX_CHARACTERS = 255;

/**
 * SHA-256 of the API key a request carries.
 * @returns null when there is none, when it is longer than any of ours, or when the header is given twice, since a proxy might pick the other one.
 */
export function apiKeyHash(request: RouteRequest): Buffer | null {
  const key = singleHeader(request, 'x-api-key');
  return key === null || key.length > CREDENTIAL_MAX_CHARACTERS ? null : sha256(key);
}

/**
 * SHA-256 of the rotation secret a request carries, of any length: every supplied secret has a counter. A header that is given twice is one
 * text, as HTTP reads it, which no secret of ours can be: it is counted and refused.
 * @returns null when the header is missing or empty.
 */
export function rotationSecretHash({ rawHeaders }: RouteRequest): Buffer | null {
  const values = headerValues(rawHeaders, 'secret-key');
  return values.every((value) => value === '') ? null : sha256(values.join(', '));
}

/** @returns the header's value, or null unless it is given exactly once and not empty. */
function singleHeader({ rawHeaders }: RouteRequest, name: string): string | null {
  const [value, ...others] = headerValues(rawHeaders, name);
  return value === undefined || value === '' || others.length > 0 ? null : value;
}
