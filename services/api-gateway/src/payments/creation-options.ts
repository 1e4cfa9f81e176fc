import type { CreationRequest, PaymentMetadata } from '@quittance/contracts/payment.ts';
import { query } from '@quittance/contracts/query.ts';
import type { JsonObject } from '../request-body.ts';

/** What this deployment allows beyond the API contract. */
export type OptionRules = {
  /** Bounds of `expires_in`, in seconds. */
  expiresIn: { min: number; max: number };
  /** Whether `return_url` may name a shop on the same machine. */
  localReturnUrls: boolean;
};

/** What a creation may say and need not; see CreationRequest. */
type Options = Omit<CreationRequest, 'amount' | 'merchant_wallet' | 'description' | 'network'>;

/** JSON Schema of each option; what a value means is checked below. */
export const optionShapes = {
  order_id: { type: 'string' },
  metadata: { type: 'object' },
  return_url: { type: 'string' },
  expires_in: { type: 'integer' },
  unique_amount: { type: 'boolean' },
};

const METADATA_MAX_MEMBERS = 20;
const METADATA_MAX_BYTES = 4096;
const VALUE_MAX_CHARACTERS = 500;
const namePattern = /^[A-Za-z0-9_.-]{1,40}$/;
/** Would reach an object's prototype in careless code that reads our answers. */
const namesOfPrototypes = ['__proto__', 'constructor', 'prototype'];

/**
 * @param value has passed the check of its shape, or a problem is reported for each field that has not.
 * @param report takes a field and what is wrong with it, or null.
 * @returns the options that say something else than their absence.
 */
export function readOptions(
  value: JsonObject,
  { expiresIn, localReturnUrls }: OptionRules,
  report: (field: string, reason: string | null) => void,
): Options {
  const { amount, order_id: orderId, metadata, return_url: returnUrl, expires_in: seconds } = value;
  const isUnique = value['unique_amount'] === true;
  if (typeof orderId === 'string') report('order_id', orderIdProblem(orderId));
  if (isObject(metadata)) report('metadata', metadataProblem(metadata));
  if (typeof returnUrl === 'string') report('return_url', returnUrlProblem(returnUrl, localReturnUrls));
  if (Number.isInteger(seconds)) report('expires_in', expiryProblem(seconds as number, expiresIn));
  if (isUnique && typeof amount === 'string') report('unique_amount', priceProblem(amount));
  return {
    ...(typeof orderId === 'string' && { order_id: orderId }),
    ...(isObject(metadata) && Object.keys(metadata).length > 0 && { metadata: metadata as PaymentMetadata }),
    ...(typeof returnUrl === 'string' && { return_url: returnUrl }),
    ...(typeof seconds === 'number' && { expires_in: seconds }),
    ...(isUnique && { unique_amount: true }),
  };
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const orderIdProblem = (text: string): string | null =>
  query.orderId.parse(text) === null ? query.orderId.reason : null;

const expiryProblem = (seconds: number, { min, max }: OptionRules['expiresIn']): string | null =>
  seconds >= min && seconds <= max ? null : `must be from ${min} to ${max} seconds`;

/** An amount that is none at all is a problem of its own field. */
const priceProblem = (amount: string): string | null =>
  /\.\d{3}/.test(amount) ? 'needs an amount of at most two decimals' : null;

function metadataProblem(metadata: JsonObject): string | null {
  const members = Object.entries(metadata);
  if (members.length > METADATA_MAX_MEMBERS) return `must have at most ${METADATA_MAX_MEMBERS} members`;
  if (!members.every(([name]) => namePattern.test(name) && !namesOfPrototypes.includes(name))) {
    return 'must have names of 1 to 40 letters, digits, _, . and -, none of them __proto__, constructor or prototype';
  }
  if (!members.every(([, text]) => typeof text === 'string' && isStorable(text))) {
    return `must have as values strings of at most ${VALUE_MAX_CHARACTERS} characters, in valid Unicode and without U+0000`;
  }
  const isSmall = Buffer.byteLength(JSON.stringify(metadata)) <= METADATA_MAX_BYTES;
  return isSmall ? null : `must have at most ${METADATA_MAX_BYTES} bytes as JSON`;
}

/** PostgreSQL keeps neither U+0000 nor half a surrogate pair. */
const isStorable = (text: string): boolean =>
  Array.from(text).length <= VALUE_MAX_CHARACTERS && text.isWellFormed() && !text.includes('\0');

const MAX_CHARACTERS = 2000;

/** Removed or read as `/` by browsers, or not seen by people: the text would not show where it leads. */
const misleading = /[\p{Cc}\p{Cf}\p{Cs}\p{Z}\\]/u;

const localHosts = ['localhost', '127.0.0.1'];

/**
 * Why a text cannot be where the checkout page leads back to; null when it can. It is kept as it was sent: browsers read it by the
 * same rules as URL does, and the merchant finds what it wrote.
 * @param isLocalAllowed whether plain HTTP to this machine is, as for trying out a shop on it.
 */
function returnUrlProblem(text: string, isLocalAllowed: boolean): string | null {
  if (Array.from(text).length > MAX_CHARACTERS) return `must have at most ${MAX_CHARACTERS} characters`;
  if (misleading.test(text)) return 'must not hold white space, control characters or a backslash';
  const url = /^https?:\/\/[^/]/i.test(text) ? URL.parse(text) : null;
  if (url === null) return 'must be an absolute https:// URL';
  const authority = /^[^:]+:\/\/([^/?#]*)/.exec(text)?.[1] ?? '';
  if (authority.includes('@')) return 'must not hold credentials';
  const isLocal = isLocalAllowed && localHosts.includes(url.hostname);
  return url.protocol === 'https:' || isLocal ? null : 'must be an https:// URL';
}
