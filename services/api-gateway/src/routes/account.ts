import { ReadLimits } from '@quittance/contracts/http/payments/limits.ts';
import { newSecret, sha256 } from '@quittance/contracts/ids.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { inTime, type Admission } from '../admission/admission.ts';
import { assertBelowLimit, merchantRoute } from '../admission/merchant-route.ts';
import { hasLargeBody, refuseLargeBody } from '../validation/body-limit.ts';
import { bodyTooLarge, invalidRotationSecret } from '../responses/errors.ts';
import { forward, successBody, type Upstreams } from '../upstream/response.ts';
import { rotationSecretHash } from '../admission/credentials.ts';
import { rateLimits } from '../admission/rate-limits.ts';
import { isRotationSecret, rotateApiKey } from '../store/rotation.ts';

type Dependencies = {
  db: Queryable;
  inTransaction: <T>(run: (tx: Transaction) => Promise<T>) => Promise<T>;
  admission: Admission;
  upstreams: Upstreams;
};

/** A merchant's own limits, and the rotation of its API key. */
export const accountRoutes = ({ db, inTransaction, admission, upstreams }: Dependencies): Route[] => [
  merchantRoute(admission, 'GET /api/v1/merchant/limits', {
    limit: rateLimits.sharedReads,
    read: refuseLargeBody,
    handle: async ({ merchant, previousRequestAt }) => {
      const answer = await upstreams.payments.send(ReadLimits, { params: merchant });
      const limits = successBody(ReadLimits, answer);
      if (limits === null) return forward(answer);
      const lastApiRequestAt = previousRequestAt === null ? null : rfc3339(previousRequestAt);
      return { status: 200, body: { ...limits, last_api_request_at: lastApiRequestAt } };
    },
  }),

  {
    method: 'POST',
    path: '/api/v1/merchant/rotate-key',
    handle: async (request) => {
      const secretHash = rotationSecretHash(request);
      if (secretHash === null) throw invalidRotationSecret();
      if (await hasLargeBody(request)) {
        const attempt = await admission.count(secretHash.toString('hex'), rateLimits.keyRotation);
        if (await inTime(isRotationSecret(db, secretHash))) throw bodyTooLarge();
        assertBelowLimit(rateLimits.keyRotation, attempt);
        throw invalidRotationSecret();
      }
      const newApiKey = newSecret('qk');
      const { counted, rotated } = await inTime(
        inTransaction((tx) => rotateApiKey(tx, secretHash, sha256(newApiKey), rateLimits.keyRotation)),
      );
      assertBelowLimit(rateLimits.keyRotation, counted);
      if (!rotated) throw invalidRotationSecret();
      return { status: 200, body: { new_api_key: newApiKey } };
    },
  },
];
