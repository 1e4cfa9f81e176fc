import {
  ConfigureWebhook,
  ReadWebhook,
  RotateWebhookKey,
} from '@quittance/contracts/http/webhook-dispatcher/endpoint.ts';
import { RetryEvent } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
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
  merchantRoute(admission, 'PUT /api/v1/merchant/webhook', {
    limit: rateLimits.webhookSettings,
    read: readWebhookEndpoint,
    handle: async ({ merchant, input }) =>
      forward(await upstreams.webhooks.send(ConfigureWebhook, { params: merchant, body: input })),
  }),

  merchantRoute(admission, 'GET /api/v1/merchant/webhook', {
    limit: rateLimits.sharedReads,
    read: refuseLargeBody,
    handle: async ({ merchant }) => forward(await upstreams.webhooks.send(ReadWebhook, { params: merchant })),
  }),

  merchantRoute(admission, 'POST /api/v1/merchant/webhook/rotate-key', {
    limit: rateLimits.webhookSettings,
    read: refuseLargeBody,
    handle: async ({ merchant }) => forward(await upstreams.webhooks.send(RotateWebhookKey, { params: merchant })),
  }),

  merchantRoute(admission, 'POST /api/v1/merchant/webhook/events/:event_id/retry', {
    limit: rateLimits.manualRetry,
    read: async (request) => {
      await refuseLargeBody(request);
      return pathParameter(request.params, 'event_id');
    },
    handle: async ({ merchant, input: eventId }) => {
      if (!isId('evt', eventId)) throw eventNotFound();
      const params = { ...merchant, event_id: eventId };
      const answer = await upstreams.webhooks.send(RetryEvent, { params });
      // The same bytes as above: an unknown event and another merchant's look the same.
      if (answer.status === 404) throw eventNotFound();
      return forward(answer);
    },
  }),
];
