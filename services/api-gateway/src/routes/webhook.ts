import { isId } from '@quittance/contracts/ids.ts';
import { pathParameter, type Route } from '@quittance/http/server/route.ts';
import type { Admission } from '../admission.ts';
import { merchantRoute, refuseLargeBody } from '../merchant-route.ts';
import { eventNotFound } from '../answers.ts';
import { passOn, type Owners } from '../clients.ts';
import { rateLimits } from '../rate-limits.ts';
import { readWebhookEndpoint } from '../validation/webhook-endpoint.ts';

/** A merchant's webhook endpoint, its signing key, and the manual retry of an event. */
export const webhookRoutes = ({ admission, owners }: { admission: Admission; owners: Owners }): Route[] => [
  merchantRoute(admission, {
    method: 'PUT',
    path: '/api/v1/merchant/webhook',
    limit: rateLimits.webhookSettings,
    read: readWebhookEndpoint,
    handle: async ({ merchantId, input }) => {
      const path = endpointOf(merchantId);
      // Never sent twice by itself: the first answer shows the signing key, and a second one would not.
      return passOn(await owners.webhooks.request({ method: 'PUT', path, json: input, idempotent: false }));
    },
  }),

  merchantRoute(admission, {
    method: 'GET',
    path: '/api/v1/merchant/webhook',
    limit: rateLimits.sharedReads,
    read: refuseLargeBody,
    handle: async ({ merchantId }) =>
      passOn(await owners.webhooks.request({ method: 'GET', path: endpointOf(merchantId) })),
  }),

  merchantRoute(admission, {
    method: 'POST',
    path: '/api/v1/merchant/webhook/rotate-key',
    limit: rateLimits.webhookSettings,
    read: refuseLargeBody,
    handle: async ({ merchantId }) =>
      passOn(await owners.webhooks.request({ method: 'POST', path: `${endpointOf(merchantId)}/rotate-key` })),
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
      const answer = await owners.webhooks.request({ method: 'POST', path });
      // The same bytes as above, so that no answer tells an unknown event from another merchant's.
      if (answer.status === 404) throw eventNotFound();
      return passOn(answer);
    },
  }),
];

const endpointOf = (merchantId: string): string => `/internal/v1/merchants/${merchantId}/webhook`;
