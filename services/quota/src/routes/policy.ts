import { ReadPolicyAudit, ReadUsage, ReadAccountStatus, ReadPolicy } from '@quittance/contracts/http/quota.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queries } from '../queries.ts';

/** Reads of a merchant's policy, for payments when its own snapshot refuses a creation, and for operators. 404 for an unknown merchant. */
export const policyRoutes = (queries: Queries): Route[] => [
  callRoute(ReadPolicy, async ({ params }) => known(await queries.policy(params.merchant_id))),
  callRoute(ReadAccountStatus, async ({ params }) => known(await queries.accountStatus(params.merchant_id))),
  callRoute(ReadPolicyAudit, async ({ params, query }) => {
    const changes = await queries.audit(params.merchant_id, query.before);
    // A registration is a change too, so only a page of older changes can be empty.
    if (changes.length === 0) known(await queries.policy(params.merchant_id));
    return { changes };
  }),
  callRoute(ReadUsage, async ({ params, query }) => {
    const days = await queries.usage(params.merchant_id, query.before);
    if (days.length === 0) known(await queries.policy(params.merchant_id));
    return { days };
  }),
];

export const unknownMerchant = (): HttpError => new HttpError(404, 'Merchant not found');

/** @throws HttpError 404 for null. */
function known<T>(found: T | null): T {
  if (found === null) throw unknownMerchant();
  return found;
}
