import { isId } from '@quittance/contracts/ids.ts';
import { pathParameter, type Route } from '@quittance/http/server/route.ts';
import type { Admission } from '../admission/admission.ts';
import { merchantRoute } from '../admission/merchant-route.ts';
import { refuseLargeBody } from '../validation/body-limit.ts';
import { eventNotFound } from '../responses/errors.ts';
import { forward, type Upstreams } from '../upstream/response.ts';
import { rateLimits } from '../admission/rate-limits.ts';
import { readWebhookEndpoint } from '../validation/webhook-endpoint.ts';

/** A merchant's webhook endpoint, its signing key, and the manual retry of an event. */
export const webhookRoutes = ({ admission, upstreams }: { admission: Admission; upstreams: Upstreams }): Route[] => [
  merchantRoute(admission, {
    method: 'PUT',
    path: '/api/v1/merchant/webhook',
    limit: rateLimits.webhookSettings,
    read: readWebhookEndpoint,
    handle: async ({ merchantId, input }) => {
      const path = endpointOf(merchantId);
      // Never retried automatically: only the first response shows the signing key.
      return forward(await upstreams.webhooks.request({ method: 'PUT', path, json: input, idempotent: false }));
    },
  }),

  merchantRoute(admission, {
    method: 'GET',
    path: '/api/v1/merchant/webhook',
    limit: rateLimits.sharedReads,
    read: refuseLargeBody,
    handle: async ({ merchantId }) =>
      forward(await upstreams.webhooks.request({ method: 'GET', path: endpointOf(merchantId) })),
  }),

  merchantRoute(admission, {
    method: 'POST',
    path: '/api/v1/merchant/webhook/rotate-key',
    limit: rateLimits.webhookSettings,
    read: refuseLargeBody,
    handle: async ({ merchantId }) =>
      forward(await upstreams.webhooks.request({ method: 'POST', path: `${endpointOf(merchantId)}/rotate-key` })),
  }),

  merchantRoute(admission, {
    method: 'POST',
    path: '/api/v1/merchant/webhook/events/:event_id/retry',
    limit: rateLimits.manualRetry,
    read: async (request) => {
      await refuseLargeBody(request);
      return pathParameter(request.params, 'event_id');
    },
    handle: async ({ merchantId, input: eventId }) => {
      if (!isId('evt', eventId)) throw eventNotFound();
      const path = `/internal/v1/merchants/${merchantId}/events/${eventId}/retry`;
      const answer = await upstreams.webhooks.request({ method: 'POST', path });
      // The same bytes as above: an unknown event and another merchant's cannot be told apart.
      if (answer.status === 404) throw eventNotFound();
      return forward(answer);
    },
  }),
];

const endpointOf = (merchantId: string): string => `/internal/v1/merchants/${merchantId}/webhook`;
