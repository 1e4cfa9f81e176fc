import { TestWebhookAsPerson } from '@quittance/contracts/http/api-gateway/webhook-test.ts';
import { TestWebhook } from '@quittance/contracts/http/webhook-dispatcher/endpoint.ts';
import { callReader, wayTo } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Admission } from '../admission/admission.ts';
import { assertBelowLimit } from '../admission/merchant-route.ts';
import { rateLimits } from '../admission/rate-limits.ts';
import { insertAudit } from '../store/audit.ts';
import { forward, type Upstreams } from '../upstream/response.ts';
import { existingMerchant, merchantIdOf } from './existing-merchant.ts';

type Dependencies = { db: Queryable; admission: Admission; upstreams: Upstreams };

/** A test event that a merchant's person asks for. It takes from the same counter as the merchant's own program. */
export function webhookTestRoute({ db, admission, upstreams }: Dependencies): Route {
  const read = callReader(TestWebhookAsPerson);
  const limit = rateLimits.webhookSettings;
  return {
    ...wayTo(TestWebhookAsPerson),
    handle: async (request) => {
      const { params, author } = await read(request);
      const { merchant_id: merchantId } = await existingMerchant(db, merchantIdOf({ params }));
      assertBelowLimit(limit, await admission.count(merchantId, limit));
      await insertAudit(db, { merchantId, action: 'test_webhook', author, change: { before: null, after: {} } });
      return forward(await upstreams.webhookTests.send(TestWebhook, { params: { merchant_id: merchantId } }));
    },
  };
}
