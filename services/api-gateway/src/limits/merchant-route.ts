import { sha256 } from '@quittance/contracts/ids.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { headerValues } from '@quittance/http/headers.ts';
import type { Reply, Route, RouteRequest } from '@quittance/http/server/route.ts';
import type { Admission } from './admission.ts';
import type { Count, RateLimit } from './admission.sql.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** A request that was admitted, with its merchant and its validated input. */
type Admitted<Input> = {
  /** The path parameter of the calls to other services. */
  merchant: { merchant_id: string };
  /** When the merchant's previous authenticated request came, or null for its first. */
  previousRequestAt: Date | null;
  input: Input;
};

type Spec<Input> = {
  limit: RateLimit;
  /** Validates the request before it is counted. @throws HttpError 413, which is counted, or 422. */
  read: (request: RouteRequest) => Promise<Input> | Input;
  handle: (admitted: Admitted<Input>) => Promise<Reply>;
};

/** A route for merchants. It refuses in this order: 401, 413, 422, 429. A key with the scope `read` may only call routes with GET. */
export function merchantRoute<Input>(
  admission: Admission,
  requestLine: `${Method} /api/v1/${string}`,
  spec: Spec<Input>,
): Route {
  const [method, path] = requestLine.split(' ') as [Method, string];
  const isRead = method === 'GET';
  return { method, path, handle: async (request) => spec.handle(await admit(admission, request, { isRead, ...spec })) };
}

/**
 * Validates first, without I/O, so that one statement can check the key and count the request. An invalid request is not counted. A request
 * whose body is too large is counted, because its content is not read.
 */
async function admit<Input>(
  admission: Admission,
  request: RouteRequest,
  { isRead, limit, read }: Omit<Spec<Input>, 'handle'> & { isRead: boolean },
): Promise<Admitted<Input>> {
  const keyHash = apiKeyHash(request);
  if (keyHash === null) throw invalidApiKey();
  const outcome = await refusalOf(() => read(request));
  const isCounted = !('refusal' in outcome) || outcome.refusal.status === 413;
  const caller = await admission.caller({ keyHash, isRead, limit: isCounted ? limit : null });
  if (caller === null) throw invalidApiKey();
  if ('refusal' in outcome) throw outcome.refusal;
  if (caller.counted !== null) assertBelowLimit(caller.counted, caller.counted);
  const { merchantId, previousRequestAt } = caller;
  return { merchant: { merchant_id: merchantId }, previousRequestAt, input: outcome.input };
}

async function refusalOf<Input>(
  read: () => Promise<Input> | Input,
): Promise<{ input: Input } | { refusal: HttpError }> {
  try {
    return { input: await read() };
  } catch (error) {
    if (error instanceof HttpError) return { refusal: error };
    throw error;
  }
}

const invalidApiKey = (): HttpError => new HttpError(401, 'Missing or invalid API key');

/** @throws HttpError 429 if the count is over the limit. */
export function assertBelowLimit(limit: Pick<RateLimit, 'limit'>, counted: Count): void {
  if (counted.count > limit.limit) throw rateLimited(counted.secondsLeft);
}

/** @param secondsLeft whole seconds until the window ends. */
export const rateLimited = (secondsLeft: number): HttpError =>
  new HttpError(429, 'Rate limit exceeded', { 'retry-after': String(secondsLeft) });

const API_KEY_MAX_CHARACTERS = 255;

/**
 * SHA-256 of the request's API key.
 * @returns null if the header is missing, too long, or given twice, because a proxy might use the other value.
 */
export function apiKeyHash({ rawHeaders }: RouteRequest): Buffer | null {
  const [key = '', ...others] = headerValues(rawHeaders, 'x-api-key');
  return key === '' || others.length > 0 || key.length > API_KEY_MAX_CHARACTERS ? null : sha256(key);
}

/**
 * SHA-256 of the request's rotation secret, of any length: each secret that is tried has a counter. A header that is given twice is one joined
 * text, as in HTTP. It is never a valid secret, so it is counted and refused.
 * @returns null if the header is missing or empty.
 */
export function rotationSecretHash({ rawHeaders }: RouteRequest): Buffer | null {
  const values = headerValues(rawHeaders, 'secret-key');
  return values.every((value) => value === '') ? null : sha256(values.join(', '));
}
