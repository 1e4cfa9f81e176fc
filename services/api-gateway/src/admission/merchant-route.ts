import { HttpError } from '@quittance/http/errors.ts';
import type { Reply, Route, RouteRequest } from '@quittance/http/server/route.ts';
import type { Admission } from './admission.ts';
import { invalidApiKey, rateLimited } from '../responses/errors.ts';
import { apiKeyHash } from './credentials.ts';
import type { Count, RateLimit } from '../store/rate-limit-window.ts';

type Method = 'GET' | 'POST' | 'PUT';

/** A request that passed: its merchant and its validated input. */
export type Admitted<Input> = {
  /** The parameter of the calls to the services behind. */
  merchant: { merchant_id: string };
  /** When the merchant's previous authenticated request came, or null for its first. */
  previousRequestAt: Date | null;
  input: Input;
};

/**
 * A route for merchants. The order of its refusals is 401, 413, 422, 429. A key of the scope `read` is admitted where the method is GET.
 * @param spec.read validates the request before anything is counted; throws HttpError 413, which is counted, or 422.
 */
export function merchantRoute<Input>(
  admission: Admission,
  requestLine: `${Method} /api/v1/${string}`,
  spec: {
    limit: RateLimit;
    read: (request: RouteRequest) => Promise<Input> | Input;
    handle: (admitted: Admitted<Input>) => Promise<Reply>;
  },
): Route {
  const [method, path] = requestLine.split(' ') as [Method, string];
  const { handle, ...checks } = spec;
  const isRead = method === 'GET';
  return { method, path, handle: async (request) => handle(await admit(admission, request, { isRead, ...checks })) };
}

/**
 * Validation comes first and stays inside this process, so that one statement can check the key and count the request. An invalid request is
 * not counted; one whose body is too large is, since nobody has looked at what it says.
 */
async function admit<Input>(
  admission: Admission,
  request: RouteRequest,
  checks: { isRead: boolean; limit: RateLimit; read: (request: RouteRequest) => Promise<Input> | Input },
): Promise<Admitted<Input>> {
  const { isRead, limit, read } = checks;
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

/** @throws HttpError 429 when this count is over the limit. */
export function assertBelowLimit(limit: Pick<RateLimit, 'limit'>, counted: Count): void {
  if (counted.count > limit.limit) throw rateLimited(counted.secondsLeft);
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
