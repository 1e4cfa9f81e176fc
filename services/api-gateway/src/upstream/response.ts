import type { Call, ResponseOf } from '@quittance/contracts/call.ts';
import type { ServiceClient } from '@quittance/http/client/client.ts';
import { readAnswer, type ServiceResponse } from '@quittance/http/client/request.ts';
import { unavailable } from '@quittance/http/errors.ts';
import type { Reply } from '@quittance/http/server/route.ts';

/** The services behind the gateway. Each client bounds its calls; one that cannot be reached throws ServiceUnavailable. */
export type Upstreams = {
  payments: ServiceClient;
  /** payments again, where it may take its time: with a circuit of its own. */
  reports: ServiceClient;
  webhooks: ServiceClient;
  /** Of payments, with a deadline that leaves it time to have the chain asked. */
  acceptance: ServiceClient;
  /** Of webhook-dispatcher too, with a circuit and time of its own: merchants' endpoints decide how long a test takes. */
  webhookTests: ServiceClient;
};

/** Statuses that a merchant may see. Any other is a fault between our services. */
const forwardedStatuses: ReadonlySet<number> = new Set([200, 201, 202, 204, 403, 404, 409, 422]);

/**
 * An upstream's response as ours: its status and exact bytes.
 * @throws HttpError 503 for a status that no merchant may see, e.g. the 401 of a wrong internal token.
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
 * The answer of a call, where the gateway adds or removes a field.
 * @returns null when the upstream refused; that response is forwarded.
 * @throws HttpError 503 when a successful response is not what the call answers.
 */
export function successBody<C extends Call>(call: C, response: ServiceResponse): ResponseOf<C> | null {
  if (response.status < 200 || response.status > 299) return null;
  try {
    return readAnswer(call, response);
  } catch (error) {
    throw unavailable(error);
  }
}
