import { readJson } from './errors.ts';
import type { WebhookEvent } from './types.ts';

/** Signing keys by id, each as it was shown. During a rotation the old key stays here for five minutes. */
export type SigningKeys = Readonly<Record<string, string>>;

/** The headers of a request: a Fetch `Headers`, or Node's `request.headers`. */
export type RequestHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export type VerificationProblem =
  | 'header_missing'
  | 'timestamp_malformed'
  | 'timestamp_out_of_tolerance'
  | 'key_unknown'
  | 'signature_wrong'
  | 'body_unreadable'
  | 'event_id_differs';

/** The request must not be trusted. `problem` says why; don't tell the sender. */
export class WebhookVerificationError extends Error {
  readonly problem: VerificationProblem;
  constructor(problem: VerificationProblem, message: string) {
    super(message);
    this.name = 'WebhookVerificationError';
    this.problem = problem;
  }
}

/**
 * Your keys or your clock cannot verify any request. This says nothing about the request, so answer 500: the sender repeats the event, and
 * nothing is lost once the configuration is right. The message never contains a key.
 */
export class WebhookConfigurationError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WebhookConfigurationError';
  }
}

const TOLERANCE_SECONDS = 300;

/**
 * Every signing key that was ever issued: 32 random bytes, in base64url without padding or in standard base64 with it. An HMAC accepts an
 * empty key, or the text "null", like any other, and then anyone could sign.
 */
const SIGNING_KEY = /^whsec_[A-Za-z0-9+/_-]{43,}=?$/;

/**
 * Checks that a request to the endpoint is an event of Quittance: that these bytes were signed with one of your keys, recently. You still
 * have to compare its content with the order: that it is one of yours, its amount, and the status PAID.
 * @param rawBody the raw body, before any parser.
 * @param now Unix milliseconds. Default: the clock's.
 * @returns the event. @throws WebhookVerificationError when it must not be trusted, and WebhookConfigurationError when `keys` or `now` are
 * wrong, for any request.
 */
export async function verifyWebhook(
  rawBody: Uint8Array | ArrayBuffer | string,
  headers: RequestHeaders,
  keys: SigningKeys,
  now: number = Date.now(),
): Promise<WebhookEvent> {
  checkConfiguration(keys, now);
  const { timestamp, signature, eventId, keyId } = readSignedHeaders(headers);
  if (!/^[0-9]{1,12}$/.test(timestamp)) throw problem('timestamp_malformed', 'the timestamp is no Unix time');
  if (Math.abs(Math.floor(now / 1_000) - Number(timestamp)) > TOLERANCE_SECONDS) {
    throw problem('timestamp_out_of_tolerance', `the timestamp is more than ${TOLERANCE_SECONDS} s from this clock`);
  }
  const key = Object.hasOwn(keys, keyId) ? keys[keyId] : undefined;
  if (key === undefined) throw problem('key_unknown', `there is no key ${keyId}`);
  const body = typeof rawBody === 'string' ? new TextEncoder().encode(rawBody) : new Uint8Array(rawBody);
  if (!(await isSigned(key, timestamp, body, signature))) throw problem('signature_wrong', 'the signature is wrong');

  const event = readEvent(body);
  if (event === null) throw problem('body_unreadable', 'the body is no JSON object in UTF-8');
  if (event['event_id'] !== eventId) throw problem('event_id_differs', 'header and body name different events');
  return event as unknown as WebhookEvent;
}

/** Checks the values themselves, because callers in JavaScript have no types. @throws WebhookConfigurationError. */
function checkConfiguration(keys: unknown, now: unknown): void {
  // No comparison with NaN exceeds the tolerance, so an invalid clock would accept any age.
  if (!Number.isFinite(now)) throw new WebhookConfigurationError('the clock must be a number of milliseconds');
  const isRecord = typeof keys === 'object' && keys !== null && !Array.isArray(keys);
  const values: unknown[] = isRecord ? Object.values(keys) : [];
  if (values.length === 0) throw new WebhookConfigurationError('there must be signing keys, by their ids');
  // No id is named: if id and key were swapped, it is the key.
  if (!values.every((key) => typeof key === 'string' && SIGNING_KEY.test(key))) {
    throw new WebhookConfigurationError('every signing key must be whsec_ and at least 43 characters of base64');
  }
}

/** The required headers. They are small, so read them before the body. @throws WebhookVerificationError header_missing. */
export function readSignedHeaders(headers: RequestHeaders) {
  const header = (name: string): string => onlyHeader(headers, name);
  return {
    timestamp: header('X-Service-Timestamp'),
    signature: header('X-Service-Signature'),
    eventId: header('X-Service-Event-ID'),
    keyId: header('X-Service-Key-ID'),
  };
}

/** Compares in constant time, as WebCrypto does when it verifies an HMAC. */
async function isSigned(key: string, timestamp: string, body: Uint8Array, signature: string): Promise<boolean> {
  const hex = /^v1=([0-9a-f]{64})$/.exec(signature)?.[1];
  if (hex === undefined) return false;
  const prefix = new TextEncoder().encode(`${timestamp}.`);
  const signed = new Uint8Array(prefix.length + body.length);
  signed.set(prefix);
  signed.set(body, prefix.length);
  const expected = Uint8Array.from({ length: 32 }, (_, index) =>
    Number.parseInt(hex.slice(2 * index, 2 * index + 2), 16),
  );
  const hmac = { name: 'HMAC', hash: 'SHA-256' };
  const cryptoKey = await crypto.subtle.importKey('raw', new TextEncoder().encode(key), hmac, false, ['verify']);
  return crypto.subtle.verify('HMAC', cryptoKey, expected, signed);
}

/** A header that occurs twice has no value on which both sides agree. */
function onlyHeader(headers: RequestHeaders, name: string): string {
  const lower = name.toLowerCase();
  const values = isFetchHeaders(headers)
    ? [headers.get(lower)]
    : Object.entries(headers).flatMap(([key, value]) => (key.toLowerCase() === lower ? value : []));
  const [value] = values;
  if (values.length !== 1 || typeof value !== 'string' || value === '') {
    throw problem('header_missing', `the header ${name} must be there once`);
  }
  return value;
}

/** Checked by its methods, because runtimes have their own classes. */
export const isFetchHeaders = (headers: RequestHeaders): headers is Headers => typeof headers.get === 'function';

function readEvent(body: Uint8Array): Record<string, unknown> | null {
  try {
    return readJson(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return null;
  }
}

const problem = (code: VerificationProblem, message: string): WebhookVerificationError =>
  new WebhookVerificationError(code, message);
