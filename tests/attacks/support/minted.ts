import { signerOfKey } from '@quittance/runtime/trust.ts';

/**
 * Tokens made by someone with a key who knows the format, with any claims. This does not use the product's code, which refuses some of
 * them.
 */

/** 31 years, as in a sample from a running system. */
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

/** A token of a person. Earlier releases signed with the part between the dots. */
export function mintOperator(key: string, claims: object): string {
  const text = encoded(claims);
  return `${text}..${signed(key, 'quittance operator v1.', text)}`;
}
