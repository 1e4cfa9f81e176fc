import { signerOfKey } from '@quittance/runtime/trust.ts';

/**
 * Tokens as somebody makes them who has a key and knows how they look, with any claims. Written here anew, so that nothing that the
 * product refuses to make is left out.
 */

/** Most of a working life, as in the sample that was shown on the running system. */
export const YEARS = 31 * 365 * 24 * 60 * 60;

export const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;

export const encoded = (claims: object): string => Buffer.from(JSON.stringify(claims)).toString('base64url');

const signed = (key: string, domain: string, text: string): string =>
  signerOfKey(key)(domain + text).toString('base64url');

/** A token for an internal call. */
export function mintCall(key: string, claims: object): string {
  const text = encoded(claims);
  return `${text}.${signed(key, 'quittance call v1.', text)}`;
}

/** A token of a person. The part between the points is what earlier releases signed with. */
export function mintOperator(key: string, claims: object): string {
  const text = encoded(claims);
  return `${text}..${signed(key, 'quittance operator v1.', text)}`;
}
