import { newSecret, sha256 } from '@quittance/contracts/ids.ts';
import { route, type Route } from '@quittance/http/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { assertWithin, merchantRoute, refuseLargeBody } from '../admission.ts';
import { invalidRotationSecret } from '../answers.ts';
import { passOn, successBody, type Owners } from '../clients.ts';
import { rotationSecretHash } from '../credentials.ts';
import { rateLimits } from '../rate-limits.ts';
import { rotateApiKey } from '../store/admission.ts';

/** A merchant's own limits, and the rotation of its API key. */
export const accountRoutes = ({ db, owners }: { db: Queryable; owners: Owners }): Route[] => [
  merchantRoute(db, {
    method: 'GET',
    path: '/api/v1/merchant/limits',
    limit: rateLimits.sharedReads,
    read: refuseLargeBody,
    handle: async ({ merchantId, previousRequestAt }) => {
      const path = `/internal/v1/merchants/${merchantId}/limits`;
      const answer = await owners.payments.request({ method: 'GET', path });
      const limits = successBody(answer);
      if (limits === null) return passOn(answer);
      const lastApiRequestAt = previousRequestAt === null ? null : rfc3339(previousRequestAt);
      return { status: 200, body: { ...limits, last_api_request_at: lastApiRequestAt } };
    },
  }),

  route({
    method: 'POST',
    path: '/api/v1/merchant/rotate-key',
    handle: async (request) => {
      const secretHash = rotationSecretHash(request);
      if (secretHash === null) throw invalidRotationSecret();
      await refuseLargeBody(request);
      const newApiKey = newSecret('qk');
      const { counted, rotated } = await rotateApiKey(db, secretHash, sha256(newApiKey), rateLimits.keyRotation);
      assertWithin(rateLimits.keyRotation, counted);
      if (!rotated) throw invalidRotationSecret();
      return { status: 200, body: { new_api_key: newApiKey } };
    },
  }),
];
