import type { ServiceClient, ServiceResponse } from '@quittance/http/client/client.ts';
import { unavailable } from '@quittance/http/errors.ts';
import type { Reply } from '@quittance/http/server/route.ts';

/** What the service that owns the data answered, bytes untouched. */
export type OwnerAnswer = ServiceResponse;

/** The services this one asks. Each bounds its own calls; an owner that cannot be reached throws ServiceUnavailable. */
export type Owners = {
  payments: ServiceClient;
  webhooks: ServiceClient;
};

/** Answers an owner may give that are the merchant's to read. Anything else is our trouble, not the merchant's. */
const passedStatuses: ReadonlySet<number> = new Set([200, 201, 202, 204, 403, 404, 409, 422]);

/**
 * The owner's answer as ours: its status and exact bytes.
 * @throws HttpError 503 for a status that no merchant should see, e.g. the 401 of a wrong internal token.
 */
export function passOn(answer: OwnerAnswer): Reply {
  if (!passedStatuses.has(answer.status)) throw unavailable(new Error(`the owner answered ${answer.status}`));
  const replayed = answer.headers['idempotency-replayed'];
  return {
    status: answer.status,
    body: answer.body,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      ...(typeof replayed === 'string' && { 'idempotency-replayed': replayed }),
    },
  };
}

/**
 * The object inside a successful answer, for the few that get a field added or taken away here.
 * @returns null when the owner refused; pass its answer on then.
 * @throws HttpError 503 when a successful answer holds no JSON object.
 */
export function successBody(answer: OwnerAnswer): Record<string, unknown> | null {
  if (answer.status < 200 || answer.status > 299) return null;
  try {
    const value: unknown = JSON.parse(answer.body.toString('utf8'));
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Fall through: a broken body is the same trouble as none.
  }
  throw unavailable(new Error('the owner answered without a JSON object'));
}
