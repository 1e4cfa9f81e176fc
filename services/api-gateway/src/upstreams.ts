import type { Call, ResponseOf } from '@quittance/contracts/call.ts';
import type { ServiceClient } from '@quittance/http/client/client.ts';
import { readAnswer, type ServiceResponse } from '@quittance/http/client/request.ts';
import { unavailable } from '@quittance/http/errors.ts';
import type { Reply } from '@quittance/http/server/route.ts';

/** Clients of the other services. Each limits the time of its calls, and throws ServiceUnavailable if it cannot reach its service. */
export type Upstreams = {
  payments: ServiceClient;
  /** payments, for long reads, with its own circuit. */
  reports: ServiceClient;
  webhooks: ServiceClient;
  /** payments, with its own circuit and enough time for chain-watcher to read the chain. */
  acceptance: ServiceClient;
  /** webhook-dispatcher, with its own circuit and time limit: merchants' endpoints decide how long a test takes. */
  webhookTests: ServiceClient;
};

/** Statuses that a merchant may see. Any other one is an error between our services. */
const forwardedStatuses: ReadonlySet<number> = new Set([200, 201, 202, 204, 403, 404, 409, 422]);

/**
 * Answers with an upstream's status and exact bytes.
 * @throws HttpError 503 for a status that no merchant may see, for example the 401 of a wrong internal token.
 */
export function forward(response: ServiceResponse): Reply {
  if (!forwardedStatuses.has(response.status)) throw unavailable(new Error(`upstream answered ${response.status}`));
  const replayed = response.headers['idempotency-replayed'];
  return {
    status: response.status,
    body: response.body,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      ...(typeof replayed === 'string' && { 'idempotency-replayed': replayed }),
    },
  };
}

/**
 * The parsed answer of a call, for routes that add or remove a field.
 * @returns null if the upstream refused; the caller forwards that response.
 * @throws HttpError 503 if a successful response does not fit the call.
 */
export function successBody<C extends Call>(call: C, response: ServiceResponse): ResponseOf<C> | null {
  if (response.status < 200 || response.status > 299) return null;
  try {
    return readAnswer(call, response);
  } catch (error) {
    throw unavailable(error);
  }
}
